import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Json, JsonObject } from "../model/json.js";

export function jsonIn(line: Buffer): Partial<JsonObject> | undefined {
  try {
    const value = JSON.parse(line.toString("utf8")) as Json;
    return typeof value === "object" && !Array.isArray(value)
      ? ((value ?? undefined) as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

export function hashOf(document: Json | undefined): string | undefined {
  try {
    return document === undefined ? undefined : sha256Hex(canonicalJson(document));
  } catch {
    // Nested so deeply that nobody wrote it as a definition.
    return undefined;
  }
}
