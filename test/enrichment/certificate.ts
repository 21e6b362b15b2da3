import { generateKeyPairSync, sign } from "node:crypto";

/** A certificate that its holder made for itself, and its key; both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** In DER, as X.509 wants it; times are such as `20200101000000Z`. */
export function certificateFor(host: string, { until = "20991231235959Z" } = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = list(Buffer.from("06082a8648ce3d040302", "hex"));
  const name = list(tagged(0x31, list(Buffer.from("0603550403", "hex"), tagged(0x0c, Buffer.from(host)))));
  const names = list(tagged(0x82, Buffer.from(host)));
  const body = list(
    tagged(0xa0, number(2)),
    number(1),
    ecdsaWithSha256,
    name,
    list(time("20200101000000Z"), time(until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, list(list(Buffer.from("0603551d11", "hex"), tagged(0x04, names)))),
  );
  const signature = tagged(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const der = list(body, ecdsaWithSha256, signature);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

const list = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts);
const number = (value: number): Buffer => tagged(0x02, Buffer.from([value]));
const time = (text: string): Buffer => tagged(0x18, Buffer.from(text));

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}
