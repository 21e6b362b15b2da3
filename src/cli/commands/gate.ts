import type { Command } from "commander";
import { findGate, parseGateKey } from "../../definition/gate-key.js";
import type { Done } from "../decide-command.js";
import { addDecideCommand } from "../decide-command.js";
import type { Io } from "../io.js";

export function addGateCommand(parent: Command, io: Io, done: Done): void {
  addDecideCommand(parent, io, done, {
    name: "gate",
    dryRun: false,
    argument: ["<action>", "ORG/DOMAIN/ACTION, or ORG/DOMAIN/ACTION@VERSION; without a version, the highest"],
    resolve: (key, definitions) => findGate(parseGateKey(key), definitions),
    examples: [
      `agent-33 decision gate acme/payments/wire.approve --input '{"amount": 250, "payee": {"country": "DE"}}'`,
      "agent-33 decision gate acme/payments/wire.approve@3 --input @request.json --json",
      `agent-33 decision gate acme/payments/wire.approve --input '{"sum": 250, "to": "DE"}' --map '{"amount": "{{ sum }}", "payee": {"country": "{{ to }}"}}'`,
    ],
  })
    .summary("ask the gate of an action")
    .description(
      "Finds the gate of an action and answers GREEN, GREEN-SKIP (exit 0), YELLOW (exit 5) or RED (exit 4), " +
        "with the work frame that says what the agent may do next.",
    );
}
