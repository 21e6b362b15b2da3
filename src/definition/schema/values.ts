/** Parts of the JSON Schema (draft 7) that more than one kind of document has. */
export const text = { type: "string", minLength: 1, maxLength: 8192 } as const;

/** What scripts and terminals print as it is: no line breaks, nothing that commands a terminal. */
export const name = {
  type: "string",
  minLength: 1,
  maxLength: 256,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
} as const;

export const duration = {
  type: "string",
  pattern: "^(?:[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d|w))+$",
  description: "A duration: 500ms, 30s, 5m, 1h, 7d, 2w; also put together, as in 1h30m.",
} as const;

export const condition = {
  type: "string",
  maxLength: 4200,
  description: "An expression that is true or false.",
} as const;

export const version = {
  type: "string",
  pattern: "^(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)\\.(?:0|[1-9]\\d*)(?:[-+][0-9A-Za-z.+-]+)?$",
  description: "A semantic version, recorded with every decision.",
} as const;

export const onError = {
  enum: ["no_match", "fail"],
  description: "What a condition that cannot be evaluated does: not match (the default), or end in an error.",
} as const;
