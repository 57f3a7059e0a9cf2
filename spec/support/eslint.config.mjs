import js from '@eslint/js';
import rxjsX from 'eslint-plugin-rxjs-x';
import tseslint from 'typescript-eslint';

// The one clock is the injected scheduler; these are the files where real time enters.
const realTime = [
  { selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']", message: 'Take the time from the injected scheduler (T1).' },
  { selector: "CallExpression[callee.object.name='performance'][callee.property.name='now']", message: 'Take the time from the injected scheduler (T1).' },
  { selector: "CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate|queueMicrotask)$/]", message: 'Timers belong to the injected scheduler (T2).' },
  { selector: "MemberExpression[object.name='process'][property.name='nextTick']", message: 'Timers belong to the injected scheduler (T2).' },
];

const functionNames = ['measured', 'decide', 'repair', 'wrapSource', 'enter', 'stream', 'request', 'when', 'backup', 'backupOn', 'oneTurnLater', 'wait', 'stay', 'then', 'tryAdmit', 'due', 'follow', 'ageMs', 'exchange', 'limitOf', 'run', 'ask', 'again', 'embed', 'recognize'];

export default tseslint.config(
  // The types of the official clients would take longer than all the rest; oxlint and tsc look at these specs.
  { ignores: ['**/*.mjs', '**/*.js', '**/*.json', 'spec/server/clients/**', 'spec/types/openai*', 'examples/{nestjs,angular}/**'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  rxjsX.configs.strict,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: process.cwd() } },
    rules: {
      // The rule cannot tell a value that is an Observable from a function that returns one; these names are functions.
      'rxjs-x/finnish': ['error', { functions: false, methods: false, strict: false, names: { [`^(${functionNames.join('|')})$`]: false } }],
      'rxjs-x/throw-error': ['error', { allowThrowingAny: false, allowThrowingUnknown: true }],
      // A default would turn an empty answer into a false one; `chat$` emits once or fails.
      'rxjs-x/no-ignored-default-value': 'off',
      'rxjs-x/no-ignored-subscription': 'error',
      'rxjs-x/no-subject-value': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-invalid-void-type': ['error', { allowAsThisParameter: true }],
      'no-control-regex': 'off',
    },
  },
  {
    files: ['lib/**/*.ts'],
    ignores: ['lib/clock/**', 'lib/cli/**', 'lib/lab/**', 'lib/telemetry/**'],
    rules: { 'no-restricted-syntax': ['error', ...realTime] },
  },
  // The body of a request is whatever the openai package's interfaces say.
  { files: ['lib/model/{request,embedding,ocr}.ts'], rules: { '@typescript-eslint/no-explicit-any': 'off' } },
  {
    files: ['spec/**/*.ts', 'marble-tests/**/*.ts', 'examples/**/*.spec.ts'],
    rules: {
      'rxjs-x/finnish': 'off',
      'rxjs-x/no-ignored-subscription': 'off',
      'rxjs-x/no-ignored-error': 'off',
      'rxjs-x/no-ignored-default-value': 'off',
      'rxjs-x/no-ignored-subscribe': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
