import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { busyCustomer, callAt, exporting, route, writeDecisions } from "./lineage-decisions.mjs";
import { timeProcesses } from "./processes.mjs";
import { command, run, runNode } from "./tool.mjs";

const handful = 5;
const listed = 20;

/** What it costs to ask a log of so many records what has to do with what; a tenth of them share an entity. */
export async function measureLineage({ records, rounds }, directory) {
  const decisions = writeDecisions(directory);
  const make = (name, size) => {
    const store = join(directory, name);
    const script = fileURLToPath(new URL("grow-lineage.mjs", import.meta.url));
    runNode([script, decisions, store, String(size)], { directory, stderr: "inherit" });
    return { directory, store, decisions };
  };
  const long = make("store-of-related-records", records);
  const short = make("store-of-few-related-records", handful);
  run("sync", [], { directory });
  const measured = [
    await timeProcesses(questions(long, Math.floor(records / 2)), { rounds }),
    await timeProcesses(checks(long, short), { rounds }),
  ];
  const count = records.toLocaleString("en");
  return {
    name: "lineage",
    title: `What has to do with what, in a log of ${count} records of which a tenth share one entity`,
    unit: "ms",
    ratio: "ratio",
    rows: measured.flatMap(({ rows }) => rows),
    failures: measured.flatMap(({ failures }) => failures),
  };
}

function questions(places, number) {
  const bare = { name: "node -e 0", run: () => runNode(["-e", "0"], places) };
  const entity = `customer:${busyCustomer}`;
  const context = {
    ticket: { kind: "bug", id: "ticket-1" },
    customer: { id: busyCustomer },
    product: "product-1",
  };
  const asked = [
    { name: "lineage of a record", words: ["lineage", String(number), "--json"], check: isDocument },
    {
      name: `lineage --entity, ${listed}`,
      words: ["lineage", "--entity", entity, "--limit", `${listed}`],
      check: isList,
    },
    {
      name: "lineage --artifact",
      words: ["lineage", "--artifact", "ticket-7", "--limit", `${listed}`],
      check: isList,
    },
    { name: "lineage --impact", words: ["lineage", "--impact", "ticket-7", "--json"], check: isDocument },
    {
      name: "precedents of an input",
      words: [
        "precedents",
        route.id,
        "--input",
        JSON.stringify(context),
        "--decisions",
        places.decisions,
        "--json",
      ],
      check: isDocument,
    },
    {
      name: "precedents of a record",
      words: ["precedents", "--record", String(number), "--json"],
      check: isDocument,
    },
    {
      name: `precedents --entity, ${listed}`,
      words: ["precedents", "--entity", entity, "--limit", `${listed}`],
      check: isList,
    },
    {
      name: `precedents --policy, ${listed}`,
      words: ["precedents", "--policy", exporting.policies[0].name, "--limit", `${listed}`],
      check: isList,
    },
  ];
  const rows = asked.map(({ name, words, check }) => ({
    name,
    run: () => tool(places, ...words),
    check,
    against: bare,
    target: { most: 2 },
    note: "÷ node -e 0",
  }));
  return [bare, ...rows];
}

const isDocument = (output) => typeof JSON.parse(output) === "object";
const isList = (output) =>
  output
    .trimEnd()
    .split("\n")
    .every((line) => JSON.parse(line).kind === "decision");

/** A call about the customer that a tenth of all records share, beside the same call where hardly anything is known. */
function checks(long, short) {
  const { tool: name, params, session_id: session } = callAt(1, busyCustomer);
  const check = (places) => ({
    run: () =>
      tool(
        places,
        "check",
        name,
        "--params",
        JSON.stringify(params),
        "--session-id",
        session,
        "--json",
        "--decisions",
        places.decisions,
      ),
    check: (output) => JSON.parse(output).allowed === true,
  });
  const few = { name: `check, a log of ${handful} records`, ...check(short) };
  const many = { name: "check, the long log", ...check(long) };
  return [few, { ...many, against: few, target: { most: 1.3 }, note: `÷ ${few.name}` }];
}

function tool(places, ...args) {
  return runNode([command, "decision", ...args], places);
}
