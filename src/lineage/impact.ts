import type { Drawing } from "../model/drawing.js";
import { drawDownwards, withoutRepeats } from "./draw-downwards.js";
import type { Downstream, LineageLog } from "./downstream.js";
import { downstreamOf } from "./downstream.js";
import { artifactNode } from "./lineage-nodes.js";

/** All that came of an artifact. */
export interface Impact extends Downstream {
  readonly artifact: string;
}

/**
 * The decisions that had the artifact as an input, and what rests on those. A target is where many a decision leads,
 * not something that was made of it: it is told of, and never followed as an artifact of the same name.
 */
export async function impactOf(artifact: string, log: LineageLog, limit: number): Promise<Impact> {
  return { artifact, ...(await downstreamOf({ artifact }, log, limit)) };
}

export function drawImpact({ artifact, steps }: Impact): Drawing {
  const origin = artifactNode(artifact);
  const sketch = withoutRepeats({ nodes: [origin], edges: [] }, drawDownwards(steps, origin));
  return { ...sketch, roots: [origin.id] };
}
