import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadContestants } from "./contestants.mjs";
import { measureEscalation, measureGrown } from "./in-process.mjs";
import { measureInputs } from "./inputs.mjs";
import { measureLineage } from "./lineage.mjs";
import { measureLongLog } from "./long-log.mjs";
import { measureOtherTypes } from "./other-types.mjs";
import { installPeers } from "./peers.mjs";
import { measureReplay } from "./replay.mjs";
import { asDocument, asHeading, asText } from "./report.mjs";
import { measureServe } from "./serve.mjs";
import { measureStartUp } from "./start-up.mjs";
import { repository } from "./tool.mjs";

const sizes = [100, 1_000, 10_000];

const full = {
  startUp: { rounds: 60 },
  inProcess: { rounds: 15, milliseconds: 200 },
  inputs: { rounds: 5, lines: 200_000 },
  longLog: { records: 1_000_000, rounds: 40, readings: 5 },
  lineage: { records: 1_000_000, rounds: 40 },
  replay: { records: 200_000, rounds: 5 },
  serve: { rounds: 5, seconds: 5 },
};
const short = {
  startUp: { rounds: 10 },
  inProcess: { rounds: 5, milliseconds: 30 },
  inputs: { rounds: 3, lines: 40_000 },
  longLog: { records: 20_000, rounds: 10, readings: 3 },
  lineage: { records: 20_000, rounds: 10 },
  replay: { records: 40_000, rounds: 3 },
  serve: { rounds: 3, seconds: 1 },
};

/** Speed is reported, never judged by the exit code; only what does not run, or answers differently, is a failure. */
async function main() {
  const { values: flags } = parseArgs({ options: { short: { type: "boolean" }, json: { type: "boolean" } } });
  if (!existsSync(join(repository, "dist/index.js"))) {
    reportFailures(["dist/ is missing: run `npm run build`"]);
    return;
  }
  const settings = flags.short ? short : full;
  const directory = mkdtempSync(join(tmpdir(), "agent-33-bench-"));
  const clean = () => rmSync(directory, { recursive: true, force: true });
  process.once("SIGINT", () => {
    clean();
    process.exit(130);
  });
  try {
    const form = { node: process.version, cores: availableParallelism(), short: flags.short ?? false };
    const sections = [];
    if (!flags.json) process.stdout.write(asHeading(form));
    for await (const section of measureAll(settings, directory)) {
      sections.push(section);
      if (!flags.json) process.stdout.write(asText(section));
    }
    if (flags.json) process.stdout.write(asDocument(form, sections));
    reportFailures(sections.flatMap((section) => section.failures));
  } finally {
    clean();
  }
}

async function* measureAll(settings, directory) {
  installPeers();
  const { contestants, failures } = await loadContestants();
  reportFailures(failures);
  yield measureStartUp(settings.startUp, directory);
  yield measureEscalation(contestants, settings.inProcess);
  yield* measureOtherTypes(settings.inProcess);
  for (const size of sizes) yield measureGrown(size, contestants, settings.inProcess, directory);
  yield measureInputs(settings.inputs, directory);
  yield measureLongLog(settings.longLog, directory);
  yield measureLineage(settings.lineage, directory);
  yield measureReplay(settings.replay, directory);
  yield measureServe(settings.serve, directory);
}

function reportFailures(failures) {
  for (const failure of failures) process.stderr.write(`error: ${failure}\n`);
  if (failures.length > 0) process.exitCode = 1;
}

await main();
