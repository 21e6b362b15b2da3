import type { Command } from "commander";
import { findGate, parseGateKey } from "../../definition/gate-key.js";
import type { Done } from "../decide-command.js";
import { addDecideCommand } from "../decide-command.js";
import type { Io } from "../io.js";

export function addGateCommand(parent: Command, io: Io, done: Done): void {
  addDecideCommand(parent, io, done, {
    name: "gate",
    dryRun: false,
    argument: ["<action>", "ORG/DOMAIN/ACTION or ORG/DOMAIN/ACTION@VERSION (default: the highest version)"],
    resolve: (key, definitions) => findGate(parseGateKey(key, definitions.gates), definitions),
    examples: [
      `agent-33 decision gate acme/payments/wire.approve \\\n      --input '{"amount": 250, "payee": {"country": "DE"}}'`,
      "agent-33 decision gate acme/payments/wire.approve@3 --input @in.json --json",
      `agent-33 decision gate acme/payments/wire.approve \\\n      --input '{"sum": 250, "to": "DE"}' \\\n      --map '{"amount": "{{ sum }}", "payee": {"country": "{{ to }}"}}'`,
    ],
  })
    .summary("evaluate the gate of an action")
    .description(
      "Evaluate the gate of an action. Print the status, GREEN or GREEN-SKIP (exit code 0), YELLOW (5) or RED (4), and " +
        "the work frame: what the agent may do next.",
    );
}
