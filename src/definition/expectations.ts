import type { DecisionType } from "../model/definition.js";

/** What a test can expect of a field of the result. */
interface Expectation {
  /** What the expected value must be. */
  readonly kind: ExpectationKind;
  /** The types of decisions whose results have the field; absent: all of them. */
  readonly types?: readonly DecisionType[];
  readonly description: string;
}

export type ExpectationKind =
  "text" | "text or null" | "texts" | "number" | "boolean" | "list" | "map" | "error" | "any";

const routing: readonly DecisionType[] = ["binary", "switch", "weighted", "rule_table", "scored"];

/** The keys of `expect`. */
export const expectations = {
  target: { kind: "text or null", description: "The only selected target; null: none is selected." },
  targets: { kind: "texts", description: "The selected targets, in order." },
  label: { kind: "text or null", description: "The only selected label; null: none is selected." },
  labels: { kind: "texts", description: "The selected labels, in order." },
  output: {
    kind: "any",
    types: routing,
    description: "The output; a list for tables that select several rules.",
  },
  outputs: { kind: "list", types: routing, description: "The outputs of the selected labels, in order." },
  decision: { kind: "text", types: ["scored"], description: "The decision that the votes make." },
  confidence: { kind: "number", types: ["scored"], description: "The confidence, with four decimals." },
  allowed: { kind: "boolean", types: ["policy"], description: "Whether the call is allowed." },
  outcome: {
    kind: "text",
    types: ["policy"],
    description: "The outcome of a policy: allowed, denied or allowed_by_exception.",
  },
  params: { kind: "map", types: ["policy"], description: "The params that the call may be made with." },
  status: { kind: "text", types: ["gate"], description: "The status of a gate." },
  work_frame: {
    kind: "map",
    types: ["gate"],
    description: "Fields of the work frame; those that are not named may have any value.",
  },
  reason: { kind: "text", description: "The reason: of a policy its reason, of others one of `because`." },
  because: {
    kind: "texts",
    description: "Texts that are part of the reasons; an empty list: there are none.",
  },
  warnings: {
    kind: "texts",
    description:
      "Texts that are part of the warnings; an empty list: there are none. What cannot be evaluated must be in one of these warnings, or the test fails.",
  },
  blocked: { kind: "boolean", description: "Whether a guardrail blocks the answer." },
  escalated: { kind: "boolean", description: "Whether a guardrail escalates the answer." },
  error: {
    kind: "error",
    description:
      "Something that could not be evaluated, or the error that ends the decision: its code, a part of its message, or true for any.",
  },
} as const satisfies Readonly<Record<string, Expectation>>;

export type ExpectationKey = keyof typeof expectations;

export const expectationOf = (key: string): Expectation | undefined =>
  Object.hasOwn(expectations, key) ? expectations[key as ExpectationKey] : undefined;

/** Returns what is wrong with an expected value; undefined: nothing. */
export function checkExpectedValue(kind: ExpectationKind, value: unknown): string | undefined {
  const isText = typeof value === "string";
  switch (kind) {
    case "text":
      return isText ? undefined : "must be text";
    case "text or null":
      return isText || value === null ? undefined : "must be text, or null for none";
    case "texts":
      return (Array.isArray(value) ? value : [value]).every(isFilledText)
        ? undefined
        : "must be a list of texts that are not empty";
    case "number":
      return typeof value === "number" ? undefined : "must be a number";
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "list":
      return Array.isArray(value) ? undefined : "must be a list";
    case "map":
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? undefined
        : "must be a map";
    case "error":
      return typeof value === "boolean" || isFilledText(value)
        ? undefined
        : "must be a code, a part of the message, or true";
    case "any":
      return undefined;
  }
}

/** An empty text is part of every other text. */
const isFilledText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
