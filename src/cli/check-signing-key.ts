import { readFileSync, statSync } from "node:fs";
import { DecisionError } from "../errors.js";

/** Refuses a file that is not there or holds no Ed25519 private key; its content is never shown. */
export async function checkSigningKey(file: string): Promise<void> {
  const pem = read(file);
  const { createPrivateKey } = await import("node:crypto");
  let type: string | undefined;
  try {
    type = createPrivateKey({ key: pem, format: "pem" }).asymmetricKeyType;
  } catch {
    type = undefined;
  }
  if (type === "ed25519") return;
  throw new DecisionError("usage", `\`${file}\` does not hold an Ed25519 private key in PEM`, {
    hint: "make one with `openssl genpkey -algorithm ed25519 -out FILE`; it must not be encrypted",
  });
}

function read(file: string): Buffer {
  try {
    if (!statSync(file).isFile()) throw new Error("it is not a file");
    return readFileSync(file);
  } catch (error) {
    throw new DecisionError("usage", `cannot read \`${file}\`: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
