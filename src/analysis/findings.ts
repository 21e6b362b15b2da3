import type { Box } from "./box.js";
import type { Domains } from "./cover.js";
import { boxOfDomains } from "./cover.js";
import { regionText } from "./region-text.js";
import { completeContext } from "./schema-bounds.js";
import { sampleContexts } from "./samples.js";
import type { Space } from "./space.js";
import type { Trial } from "./trial.js";
import type { Path } from "../definition/yaml-source.js";
import type { JsonObject } from "../model/json.js";

/** Inputs that no rule matches. */
export interface Gap {
  readonly region: string;
  readonly input: JsonObject;
  /** Whether the definition says that there must not be any. */
  readonly isUnexpected: boolean;
  readonly box: Box;
}

/** Inputs that two rules match, where the hit policy does not allow that. */
export interface Overlap {
  readonly rules: readonly [string, string];
  readonly region: string;
  readonly input: JsonObject;
  readonly box: Box;
  /** The condition of the second rule. */
  readonly path: Path;
  /** Whether both conditions are true for the same inputs. */
  readonly isSame: boolean;
}

/** A rule that never decides, because others always decide before it. */
export interface Masked {
  readonly rule: string;
  /** The rules that do: one of them if that is enough. */
  readonly by: readonly string[];
  readonly input: JsonObject;
  readonly path: Path;
  /** Whether only one rule masks it, whose condition is true for the same inputs. */
  readonly isSame: boolean;
}

/** A rule that never matches, or never has an effect. */
export interface Unreachable {
  readonly rule: string;
  readonly reason: string;
  readonly path: Path;
  /** Whether its condition is never true. */
  readonly isNeverTrue: boolean;
}

/** A value that two rules list, of which only the first one decides. */
export interface RepeatedValue {
  readonly rule: string;
  readonly earlier: string;
  readonly region: string;
  readonly path: Path;
}

/** A rule about which nothing can be said, or not everything. */
export interface NotAnalysed {
  readonly rule: string;
  readonly reason: string;
}

/** What is wrong with the rules of a decision, or may be. */
export interface DecisionAnalysis {
  readonly decision_id: string;
  readonly gaps: readonly Gap[];
  readonly overlaps: readonly Overlap[];
  readonly masked: readonly Masked[];
  readonly unreachable: readonly Unreachable[];
  readonly not_analysed: readonly NotAnalysed[];
  readonly repeated: readonly RepeatedValue[];
  /** The number of conditions. */
  readonly conditions: number;
  /** Claims that evaluation did not confirm; each is a bug in the analysis. */
  readonly unconfirmed: readonly string[];
}

interface FindingsOptions {
  /** The number of conditions of the decision. */
  readonly conditions: number;
  /** How many inputs may be evaluated to confirm findings. */
  readonly mostInputs: number;
  /** Called before an input is evaluated. */
  readonly onWork: (() => void) | undefined;
}

/** Collects what an analysis finds. Only what evaluation confirms is reported. */
export class Findings {
  readonly space: Space;
  readonly #trial: Trial;
  readonly #options: FindingsOptions;
  readonly #gaps: Gap[] = [];
  readonly #overlaps: Overlap[] = [];
  readonly #masked: Masked[] = [];
  readonly #unreachable: Unreachable[] = [];
  readonly #notAnalysed = new Map<string, NotAnalysed>();
  readonly #repeated: RepeatedValue[] = [];
  readonly #unconfirmed: string[] = [];
  /** How many inputs were evaluated, by the kind of finding. */
  readonly #evaluated = new Map<string, number>();

  constructor(trial: Trial, space: Space, options: FindingsOptions) {
    this.space = space;
    this.#trial = trial;
    this.#options = options;
  }

  /** A gate expects more of a context than what its rules read. */
  #complete(context: JsonObject): JsonObject {
    const { definition } = this.#trial;
    const schema = definition.type === "gate" ? definition.context_schema : undefined;
    return schema === undefined ? context : completeContext(schema, context);
  }

  skip(rule: string, reason: string): void {
    this.#notAnalysed.set(`${rule} ${reason}`, { rule, reason });
  }

  addRepeated(repeated: RepeatedValue): void {
    this.#repeated.push(repeated);
  }

  addUnreachable(unreachable: Unreachable): void {
    this.#unreachable.push(unreachable);
  }

  addGap(gap: Omit<Gap, "region" | "input">, domains: Domains, holds: Confirm): void {
    const region = regionText(gap.box, this.space);
    const input = this.#confirm(["gaps", region], domains, holds);
    if (input !== undefined) this.#gaps.push({ ...gap, region, input });
  }

  addOverlap(overlap: Omit<Overlap, "region" | "input">, domains: Domains, holds: Confirm): void {
    const region = regionText(overlap.box, this.space);
    const claim = ["overlaps", `${overlap.rules.join(" and ")}: ${region}`] as const;
    const input = this.#confirm(claim, domains, holds);
    if (input !== undefined) this.#overlaps.push({ ...overlap, region, input });
  }

  addMasked(masked: Omit<Masked, "input">, domains: Domains, holds: Confirm): void {
    const claim = ["masked rules", `${masked.rule} by ${masked.by.join(", ")}`] as const;
    const input = this.#confirm(claim, domains, holds);
    if (input !== undefined) this.#masked.push({ ...masked, input });
  }

  /** Returns an input in the domains for which evaluation confirms a claim. */
  #confirm(
    [kind, claim]: readonly [kind: string, claim: string],
    domains: Domains,
    holds: Confirm,
  ): JsonObject | undefined {
    const { mostInputs, onWork } = this.#options;
    for (const sample of sampleContexts(domains, this.space)) {
      const input = this.#complete(sample);
      const evaluated = this.#evaluated.get(kind) ?? 0;
      if (evaluated >= mostInputs) {
        this.skip(kind, "not all of them are listed");
        return undefined;
      }
      this.#evaluated.set(kind, evaluated + 1);
      onWork?.();
      const confirmed = holds(input, this.#trial);
      if (confirmed === true) return input;
      if (typeof confirmed === "string") {
        this.skip(claim, confirmed);
        return undefined;
      }
    }
    // Whether a part that is not analysed can have a result is not known.
    const isExact = boxOfDomains(domains, this.space).dimensions.every(
      (index) => this.space.dimensions[index]?.type === "path",
    );
    if (isExact) this.#unconfirmed.push(`${kind}: ${claim}`);
    return undefined;
  }

  result(): DecisionAnalysis {
    return {
      decision_id: this.#trial.definition.id,
      gaps: this.#gaps,
      overlaps: this.#overlaps,
      masked: this.#masked,
      unreachable: this.#unreachable,
      not_analysed: [...this.#notAnalysed.values()],
      repeated: this.#repeated,
      conditions: this.#options.conditions,
      unconfirmed: this.#unconfirmed,
    };
  }
}

/** Whether evaluation confirms a claim for an input, or why that is unknown. */
export type Confirm = (input: JsonObject, trial: Trial) => boolean | string;

/** The number of findings that `--check` fails for. */
export const countFailures = ({ gaps, overlaps, masked, unreachable }: DecisionAnalysis): number =>
  gaps.filter(({ isUnexpected }) => isUnexpected).length +
  overlaps.length +
  masked.length +
  unreachable.length;
