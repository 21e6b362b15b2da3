import type { KeyObject } from "node:crypto";
import { createHash, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import type { Signer, VerifySignature } from "../../../src/definition/approval/lock.js";
import { approvalStatement, reviseLock } from "../../../src/definition/approval/lock.js";
import { definitionHash } from "../../../src/definition/loaded-definition.js";
import { canonicalJson } from "../../../src/digest/canonical-json.js";
import { sha256Hex } from "../../../src/digest/sha256.js";
import type { ApprovalLock } from "../../../src/model/approval.js";
import type { Definition, LoadedDefinition } from "../../../src/model/definition.js";
import type { JsonObject } from "../../../src/model/json.js";

export const at = "2026-11-17T10:00:00.000000Z";

export interface TestKey extends Signer {
  readonly publicKey: KeyObject;
}

export function newKey(): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  return {
    key: createHash("sha256").update(pem).digest("hex"),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64"),
  };
}

export const trusting =
  (...keys: readonly TestKey[]): VerifySignature =>
  (text, { key, signature }) => {
    const trusted = keys.find((each) => each.key === key);
    if (trusted === undefined) return "untrusted";
    const bytes = Buffer.from(signature, "base64");
    return verify(null, Buffer.from(text), trusted.publicKey, bytes) ? "fits" : "unfit";
  };

/** A definition as a library would give it. */
export function loadedDefinition(
  definition: object,
  environment: JsonObject = { targets: [] },
): LoadedDefinition {
  const known = definition as Definition;
  return {
    definition: known,
    definition_hash: definitionHash(known),
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file: `decisions/${known.id}.yaml`,
    line: 2,
  };
}

export const binary = (id: string, condition = "input >= 0.8"): LoadedDefinition =>
  loadedDefinition({
    id,
    type: "binary",
    input: "{{ score }}",
    cases: [{ condition, target: "deploy" }],
    default: { target: "rework" },
  });

export const policy = (id: string, tool: string): LoadedDefinition =>
  loadedDefinition({ id, type: "policy", tool, policies: [] });

export const gate = (id: string, version: number): LoadedDefinition =>
  loadedDefinition({
    id,
    type: "gate",
    action: { org: "acme", domain: "pay", name: "wire", world_model_version: version },
    rules: [],
  });

export const approving = (
  key: TestKey,
  loaded: readonly LoadedDefinition[],
  lock?: ApprovalLock,
  above = 0,
): ApprovalLock =>
  reviseLock(
    lock,
    loaded.map((each) => approvalStatement(each, at)),
    { signer: key, above, newLockId },
  );

export const newLockId = (): string => randomBytes(16).toString("hex");
