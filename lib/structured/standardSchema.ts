/** A schema of any library that follows Standard Schema, such as zod, valibot or ArkType; its own types, so that no library is needed. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardProps<Input, Output>;
}

/** What Standard Schema asks of a schema. */
export interface StandardProps<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** For types only; absent at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** What a check has found: the value, or what is wrong with it. */
export type StandardResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong. */
export interface StandardIssue {
  readonly message: string;
  /** Absent where it is the whole value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema that can be written as JSON Schema, as those of zod 4.2 and later. */
export interface StandardJsonSchema {
  readonly '~standard': { readonly jsonSchema: { readonly input: (options: { readonly target: string }) => Record<string, unknown> } };
}

/** What a schema's check gives. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];
