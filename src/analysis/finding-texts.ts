import type { Gap, Masked, Overlap, Unreachable } from "./findings.js";
import type { Definition, HitPolicy } from "../model/definition.js";

/** Says which rule never decides, and why. */
export function maskedText({ rule, by, isSame }: Masked, definition: Definition): string {
  const others = namesOf(by, "or");
  const isRanked = definition.type === "gate" || hitPolicyOf(definition) === "priority";
  if (isRanked) {
    const never = isSame ? `has the same condition as ${others}` : "never decides";
    return `\`${rule}\` ${never}: ${others} decides wherever it matches`;
  }
  if (isSame) return `\`${rule}\` has the same condition as ${others}, so it is never reached`;
  return `\`${rule}\` is never reached: ${others} matches whenever it does`;
}

/** Says which rules match together, and what follows from that. */
export function overlapText({ rules, region, isSame }: Overlap, definition: Definition): string {
  const [first, second] = rules;
  const both = isSame
    ? `\`${second}\` has the same condition as \`${first}\``
    : `${namesOf(rules, "and")} can both match where ${regionInText(region)}`;
  return `${both}; ${overlapEffect(definition)}`;
}

/** Says what follows if rules match together. */
export function overlapEffect(definition: Definition): string {
  const policy = hitPolicyOf(definition) ?? "first";
  return policy === "priority"
    ? "they have the same priority, so the first one decides"
    : `with \`hit_policy: ${policy}\` that is an error`;
}

export const unreachableText = ({ rule, reason, isNeverTrue }: Unreachable): string =>
  isNeverTrue ? `\`${rule}\` can never match: ${reason}` : `\`${rule}\`: ${reason}`;

/** Says which inputs no rule matches, and what they lead to. */
export function gapText({ region }: Gap, definition: Definition): string {
  switch (definition.type) {
    case "gate":
      return `no rule matches where ${regionInText(region)}, so the gate is YELLOW`;
    case "scored":
      return `no rule votes where ${regionInText(region)}, so the decision ends in an error`;
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
    case "policy":
      return `no rule matches where ${regionInText(region)}, so the default is taken`;
  }
}

/** Puts a region in backticks, unless parts of it are. */
export const regionInText = (region: string): string => (region.includes("`") ? region : `\`${region}\``);

const hitPolicyOf = (definition: Definition): HitPolicy | undefined =>
  definition.type === "rule_table" ? (definition.hit_policy ?? "first") : undefined;

const maxNamed = 3;

/** Names the first few rules. */
export function namesOf(rules: readonly string[], joint: "and" | "or"): string {
  const named = rules.slice(0, maxNamed).map((rule) => `\`${rule}\``);
  const more = rules.length - named.length;
  const all = more > 0 ? [...named, `${more} more`] : named;
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} ${joint} ${all.at(-1) ?? ""}`;
}
