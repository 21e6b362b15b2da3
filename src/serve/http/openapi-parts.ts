import type { JsonObject } from "../../model/json.js";
import { version } from "../../version.js";
import { gateAnswerSchema } from "../questions/decide.js";

/** What every OpenAPI document of ours begins with. */
export const heading = (title: string, description: string): JsonObject => ({
  openapi: "3.1.0",
  info: { title, version, description },
});

/** What its operations refer to. */
export const components = (schemas: JsonObject): JsonObject => ({
  schemas: { ...schemas, GateAnswer: gateAnswerSchema, Problem: problemSchema },
  securitySchemes: { token: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
});

const problemSchema: JsonObject = {
  type: "object",
  description: "RFC 9457",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string" },
    hint: { type: "string" },
    errors: {
      type: "array",
      description: "each fault of the request; where an id is not unique, some of those that are meant",
      items: {
        type: ["object", "string"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
  },
  required: ["type", "title", "status", "detail", "code"],
};

const problems: JsonObject = {
  default: {
    description: "What went wrong",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  },
};

export const gateAnswer: JsonObject = { $ref: "#/components/schemas/GateAnswer" };

/** The responses of an operation that answers with JSON. */
export const answered = (description: string, schema: JsonObject): JsonObject => ({
  "200": { description, content: { "application/json": { schema } } },
  ...problems,
});

export const parameter = (
  place: "path" | "query",
  name: string,
  schema: JsonObject,
  required: boolean,
): JsonObject => ({ in: place, name, required, schema });
