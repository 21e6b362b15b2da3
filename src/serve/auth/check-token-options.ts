import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../nearest.js";
import { signatureAlgorithms } from "./algorithms.js";
import type { TokenOptions } from "./authenticate.js";

const longestName = 256;
const largestSkew = 300;

/** Refuses options under which a token could not be trusted; an empty list of algorithms stands for all we know. */
export function checkTokenOptions(options: TokenOptions): TokenOptions {
  const { issuer, audience, clockSkewSeconds, algorithms } = options;
  checkName("issuer", issuer);
  checkName("audience", audience);
  if (!(clockSkewSeconds >= 0 && clockSkewSeconds <= largestSkew)) {
    throw new DecisionError("usage", `the clock skew \`${clockSkewSeconds}\` is not 0 to 300 seconds`, {
      hint: "allow for what the clocks differ at most, such as 30",
    });
  }
  algorithms.forEach(checkAlgorithm);
  return algorithms.length === 0 ? { ...options, algorithms: signatureAlgorithms } : options;
}

function checkName(what: "issuer" | "audience", name: string): void {
  if (name !== "" && name.length <= longestName) return;
  throw new DecisionError("usage", `the ${what} of tokens must be a text of at most 256 characters`, {
    hint: `give the ${what} exactly as the claim \`${what === "issuer" ? "iss" : "aud"}\` has it`,
  });
}

function checkAlgorithm(algorithm: string): void {
  if (signatureAlgorithms.includes(algorithm)) return;
  const known = `allow some of ${signatureAlgorithms.join(", ")}`;
  if (/^(?:none|HS\d*)$/i.test(algorithm)) {
    throw new DecisionError("usage", `tokens by the algorithm \`${algorithm}\` can never be allowed`, {
      hint: `whoever can check them can forge them; ${known}`,
    });
  }
  throw new DecisionError("usage", `there is no algorithm \`${algorithm}\` for tokens`, {
    hint: didYouMean(algorithm, signatureAlgorithms) ?? known,
  });
}
