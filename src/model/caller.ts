/** Who asks, as a signed token says; in facts and in the `system` of expressions it is called `authenticated_caller`. */
export interface AuthenticatedCaller {
  /** On whose behalf it is asked. */
  readonly subject: string;
  readonly issuer: string;
  readonly client_id?: string;
  /** The only organisation that may be asked for; absent: any. */
  readonly org_id?: string;
  readonly scopes: readonly string[];
  /** Whether somebody else asks for the subject. */
  readonly delegated: boolean;
  /** Who asks for the subject: the one that asks now first, then whom it acts for, and so on (RFC 8693, `act`). */
  readonly actors: readonly Actor[];
}

export interface Actor {
  readonly subject: string;
  readonly issuer?: string;
  readonly client_id?: string;
}
