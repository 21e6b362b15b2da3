/** A directed graph to be drawn. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  /** Between nodes that are there. */
  readonly edges: readonly DrawnEdge[];
  /** The ids of the nodes to begin with. */
  readonly roots: readonly string[];
}

export interface DrawnNode {
  readonly id: string;
  /** What is shown instead of its id. */
  readonly name?: string;
  /** What people call it, or what is to be said of it. */
  readonly label?: string;
  /** Nothing: it only holds others together. */
  readonly kind: string;
  /** What else should be seen at once. */
  readonly note?: string;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  readonly kind?: string;
}
