import type { Observer } from "../../model/definition.js";

/** The properties of each type; a record, so that the compiler finds a type that is missing. */
const propertiesByType: Readonly<Record<Observer["type"], object>> = {
  precedent_consistency: {
    every: {
      type: "integer",
      minimum: 1,
      maximum: 1000,
      description: "Runs after every N-th recorded decision of a session. Default: 5.",
    },
    last: {
      type: "integer",
      minimum: 1,
      maximum: 100,
      description: "How many of the newest decisions of the session are assessed. Default: 10.",
    },
    on: {
      enum: ["info", "caution"],
      description:
        "Which assessments are recorded: `caution` (the default) only those with a deviation, `info` all.",
    },
  },
};

/** The observers of all sessions. */
export const observers = {
  type: "array",
  items: {
    type: "object",
    required: ["type"],
    discriminator: { propertyName: "type" },
    oneOf: Object.entries(propertiesByType).map(([type, properties]) => ({
      type: "object",
      required: ["type"],
      additionalProperties: false,
      properties: { type: { const: type }, description: { type: "string" }, ...properties },
    })),
  },
  description: "What assesses the decisions of every session while it runs, without changing them.",
} as const;
