import type { Change } from "../definition/approval/changes.js";
import type { Approval, ApprovalState } from "../model/approval.js";
import type { View } from "./format.js";
import type { Column } from "./grid.js";
import { oneLine } from "../text.js";

/** The result of approving or retiring a decision. */
export interface SigningSummary {
  readonly decision_id: string;
  readonly status: "approved" | "retired";
  readonly was: ApprovalState;
  readonly serial: number;
  readonly definition_hash: string;
  readonly environment_hash: string;
  readonly changes: readonly Change[];
  readonly environment_changes: readonly Change[];
}

export function signingsView(signings: readonly SigningSummary[]): View {
  const rows = signings.map((each) =>
    [
      each.decision_id,
      String(each.serial),
      each.status,
      each.was,
      changeSummary(each),
      each.definition_hash,
      each.environment_hash,
    ].map(oneLine),
  );
  return {
    value: signings,
    items: signings,
    plain: () => rows.map((row) => row.join("\t")).join("\n"),
    table: async (style) => {
      if (rows.length === 0) return "";
      const { grid } = await import("./grid.js");
      const titles = ["id", "serial", "status", "was"].map((title) => ({ title }));
      const columns: readonly Column[] = [
        ...titles,
        { title: "changed", flexible: true },
        { title: "hash" },
        { title: "environment" },
      ];
      const short = rows.map((row) => row.map((cell, index) => (index > 4 ? cell.slice(0, 12) : cell)));
      return grid(columns, short, style);
    },
  };
}

/** Names the first change. The `diff` command shows them all. */
function changeSummary({ changes, environment_changes: environment }: SigningSummary): string {
  const [first] = changes;
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : "";
  return [
    ...(first === undefined ? [] : [`${first.path}${more}`]),
    ...(environment.length === 0 ? [] : [`${environment.length} in the environment`]),
  ].join(", ");
}

/** Describes the state of an approval. */
export function approvalText({ state, serial = 0, at = "" }: Approval): string {
  switch (state) {
    case "approved":
      return `approved (serial ${serial}, ${at})`;
    case "changed":
      return `changed since it was approved (serial ${serial}, ${at})`;
    case "retired":
      return `retired (serial ${serial}, ${at})`;
    case "unknown":
      return "unknown";
  }
}

/** A new key pair. */
export interface KeyPairSummary {
  readonly key: string;
  readonly file: string;
  readonly public_file: string;
  readonly public_key: string;
  /** The command that adds it to the trusted keys. */
  readonly trust: string;
}

export function keysView(keys: KeyPairSummary): View {
  return {
    value: keys,
    plain: () => [keys.key, keys.file, keys.public_file, keys.public_key, keys.trust].map(oneLine).join("\t"),
    table: ({ paint }) => {
      const line = (name: string, text: string): string =>
        `  ${paint("dim", name.padEnd(11))} ${oneLine(text)}`;
      return [
        `${paint("bold", "key")}  ${keys.key}`,
        "",
        line("private", `${keys.file} (keep it secret; it signs approvals)`),
        line("public", keys.public_file),
        "",
        "To trust its approvals, run on every machine that makes decisions:",
        `  ${oneLine(keys.trust)}`,
      ].join("\n");
    },
  };
}
