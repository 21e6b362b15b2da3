/** With which a token may be signed: whoever can check a signature must not be able to make one. */
export const signatureAlgorithms: readonly string[] = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];
