/** The guides in the order in which they are read; each is a file of docs/, the first is README.md. */
export const groups = [
  { title: 'Start', guides: ['README', 'getting-started', 'concepts', 'recipes'] },
  { title: 'Use', guides: ['streaming', 'structured', 'hedging', 'thresholds', 'what-if', 'embeddings-ocr', 'settings', 'rules'] },
  { title: 'Test', guides: ['testing', 'operators'] },
  { title: 'Run', guides: ['front-door', 'fleet', 'telemetry'] },
  { title: 'Move', guides: ['migrating', 'package'] },
];

export const fileOf = (guide) => (guide === 'README' ? 'README.md' : guide === 'changelog' ? 'CHANGELOG.md' : `docs/${guide}.md`);

export const pageOf = (guide) => (guide === 'README' ? 'index.html' : `${guide}.html`);
