import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../src/model/json.js";

const rule = (id: string, when: string, status: string, more: JsonObject = {}): JsonObject => ({
  id,
  tier: "T2",
  severity: 10,
  when,
  status,
  ...more,
});

const routine = rule("routine", "true", "GREEN", { tier: "T3", severity: 1 });

interface Gate extends JsonObject {
  readonly id: string;
}

interface Key {
  readonly org?: string;
  readonly domain?: string;
  readonly world_model_version?: number;
}

function gate(name: string, rules: readonly JsonObject[], more: JsonObject = {}, key: Key = {}): Gate {
  const { org = "acme", domain = "ops", world_model_version: version = 1 } = key;
  const id = `${org}-${domain}-${name}-${version}`;
  return { id, type: "gate", action: { org, domain, name, ...key }, rules, ...more };
}

/** One gate for each clause; a rule's id says what it is there for. */
export const gates: readonly Gate[] = [
  gate("whoami", [
    rule("alice", "system.authenticated_caller.subject == 'alice'", "GREEN", { severity: 90 }),
    rule("somebody", "exists(system.authenticated_caller.subject)", "RED"),
  ]),
  gate("delegate", [
    rule(
      "chain",
      "system.authenticated_caller.actors.0.subject == 'agent-7' and system.authenticated_caller.actors.1.subject == 'desk'",
      "GREEN",
      { applies_when: "system.authenticated_caller.delegated", severity: 90 },
    ),
    rule("alone", "not system.authenticated_caller.delegated", "GREEN-SKIP"),
  ]),
  gate("mode", [
    rule("operator", "system.authenticated_caller.mode == 'operator'", "GREEN", { severity: 90 }),
    rule("customer", "system.authenticated_caller.mode == 'customer'", "RED"),
  ]),
  gate("versioned", [rule("old", "true", "RED")], {}, { world_model_version: 1 }),
  gate("versioned", [rule("new", "true", "GREEN")], {}, { world_model_version: 2 }),
  gate("versioned", [rule("elsewhere", "true", "GREEN-SKIP")], {}, { org: "umbrella" }),
  gate("versioned", [rule("other-domain", "true", "YELLOW")], {}, { domain: "sales" }),
  gate("transfer", [rule("large", "is_large", "RED"), routine], {
    context_schema: {
      type: "object",
      required: ["amount"],
      properties: { amount: { type: "number", minimum: 0 } },
    },
    computed: { is_large: "amount > 1000" },
  }),
  gate("system", [
    rule("time", "matches(system.request_time, '^20[0-9]{2}-.*Z$')", "GREEN", { severity: 90 }),
    rule("id", "length(system.request_id) > 10", "GREEN"),
    rule("claimed", "exists(request_time)", "GREEN", { severity: 5 }),
  ]),
  gate("derived", [rule("late", "is_late", "RED"), routine], {
    computed: { is_late: "before(due, system.request_time)" },
  }),
  gate("predicates", [
    rule("filtered", "missing > 1", "RED", { applies_when: "exists(missing)", severity: 30 }),
    rule("low", "true", "YELLOW", { severity: 5 }),
    rule("high", "exists(high)", "GREEN-SKIP", { severity: 20, suppresses: ["low", "middle"] }),
    rule("middle", "exists(middle)", "RED", { severity: 10 }),
  ]),
  gate("exception", [rule("broken", "n > 1", "RED"), routine]),
  gate("floor", [
    rule("floor", "exists(floor)", "RED", { tier: "T1", severity: 0 }),
    rule("loud", "true", "GREEN", { severity: 1000, suppresses: ["quiet"] }),
    rule("quiet", "true", "YELLOW"),
  ]),
  gate("frame", [
    rule("full", "true", "YELLOW", {
      work_frame: {
        next_action: "prepare",
        allowed_actions: ["look"],
        forbidden_actions: ["send"],
        required_output: { form: "F-1" },
        missing_evidence: ["second_approval"],
        next_human_owner: "treasury",
      },
    }),
  ]),
  ...["GREEN", "GREEN-SKIP", "YELLOW", "RED"].map((status) =>
    gate(`be-${status}`, [rule("r", "true", status)]),
  ),
];

/** The gates in a directory of their own, and beside them one whose newer version cannot be used. */
export function writeGates(): string {
  const directory = join(mkdtempSync(join(tmpdir(), "agent-33-gates-")), "decisions");
  mkdirSync(directory);
  const older = gate("mended", [routine]);
  const broken = gate("mended", [rule("r", "n >", "GREEN")], {}, { world_model_version: 2 });
  for (const decision of [...gates, older, broken]) {
    writeFileSync(join(directory, `${decision.id}.json`), JSON.stringify({ decision }));
  }
  return directory;
}
