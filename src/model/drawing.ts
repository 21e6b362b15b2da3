/** A directed graph to draw. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  /** Edges between existing nodes. */
  readonly edges: readonly DrawnEdge[];
  /** The ids of the nodes to start from. */
  readonly roots: readonly string[];
}

export interface DrawnNode {
  readonly id: string;
  /** Shown instead of the id. */
  readonly name?: string;
  /** A name or a short description. */
  readonly label?: string;
  /** Empty for a node that only groups others. */
  readonly kind: string;
  /** A short remark shown next to the node. */
  readonly note?: string;
}

export interface DrawnEdge {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  readonly kind?: string;
}
