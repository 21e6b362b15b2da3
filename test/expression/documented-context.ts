import type { JsonObject } from "../../src/model/json.js";

/** The context of every documented example of the language. */
export const documentedContext: JsonObject = {
  customer: {
    email: "ada@home.example",
    name: "Ada",
    country: "DE",
    tags: ["vip", "early"],
    notes: "",
  },
  headers: { "x-tier": "gold" },
  order: { total: 120, placed_at: "2026-03-02T12:00:00Z" },
};
