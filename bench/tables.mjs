import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decisions } from "./tool.mjs";

/**
 * A table that every contestant writes in its own form; agent-33 reads it from `directory`. A rule matches
 * when all its tests hold. `cycle` contexts in a row visit all kinds of outcome.
 */
export const escalation = {
  id: "decision-escalation-rules",
  directory: decisions,
  rules: [
    {
      label: "Critical + Retried",
      target: "stage-human-escalation",
      tests: [test("severity", "==", "critical"), test("attempts", ">", 2)],
    },
    { label: "Critical", target: "stage-senior-agent", tests: [test("severity", "==", "critical")] },
    { label: "Low Quality", target: "stage-full-rework", tests: [test("quality_score", "<", 0.5)] },
    { label: "Needs Polish", target: "stage-minor-rework", tests: [test("quality_score", "<", 0.8)] },
  ],
  otherwise: "stage-continue",
  contexts: escalationContexts(),
  cycle: escalationContexts().length,
};

/** The table with a rule for each of many tenants, written to `directory`. */
export function grownTable(size, directory) {
  const tenants = Array.from({ length: size }, (_, index) => `t-${index}`);
  const table = {
    id: `decision-escalation-of-${size}-tenants`,
    directory: join(directory, `grown-${size}`),
    rules: tenants.map((tenant) => ({
      label: `Tenant ${tenant}`,
      target: `stage-${tenant}`,
      tests: [test("tenant", "==", tenant), test("attempts", ">", 2)],
    })),
    otherwise: "stage-continue",
    contexts: grownContexts(size),
    cycle: 4,
  };
  mkdirSync(table.directory);
  writeFileSync(join(table.directory, "grown.json"), JSON.stringify({ decision: asDefinition(table) }));
  return table;
}

function test(field, operator, value) {
  return { field, operator, value };
}

function escalationContexts() {
  const contexts = [];
  for (const severity of ["critical", "high", "low"]) {
    for (const attempts of [0, 2, 3, 7]) {
      for (const quality_score of [0.95, 0.2, 0.8, 0.5, 0.65])
        contexts.push({ severity, attempts, quality_score });
    }
  }
  return contexts;
}

/** By fours: a match early in the table, in the middle, late, and none (nobody's tenant, or too few attempts). */
function grownContexts(size) {
  return Array.from({ length: 5 }, (_, group) => {
    const tenantAt = (share) => `t-${Math.floor(size * (share + group / 100))}`;
    return [
      { tenant: tenantAt(0.01), attempts: 3 },
      { tenant: tenantAt(0.47), attempts: 4 },
      { tenant: tenantAt(0.91), attempts: 5 },
      group % 2 === 0 ? { tenant: "t-none", attempts: 3 } : { tenant: tenantAt(0.47), attempts: 2 },
    ];
  }).flat();
}

function asDefinition({ id, rules, otherwise }) {
  return {
    id,
    type: "rule_table",
    input: "{{ context }}",
    hit_policy: "first",
    rules: rules.map(({ label, target, tests }, index) => ({
      condition: tests.map(asCondition).join(" and "),
      target,
      label,
      priority: index + 1,
    })),
    default: { target: otherwise },
  };
}

function asCondition({ field, operator, value }) {
  return `input.${field} ${operator} ${typeof value === "string" ? `'${value}'` : value}`;
}
