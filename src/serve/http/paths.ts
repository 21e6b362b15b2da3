import { routes } from "./routes.js";

/** What the server tells of itself. */
export const ownPaths = {
  health: "/healthz",
  readiness: "/readyz",
  metrics: "/metrics",
  document: "/openapi.json",
  actions: "/orgs/{org}/domains/{domain}/actions",
  mcp: "/mcp",
} as const;

/** `/records/{id}` as the web framework writes it. */
export const asPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

/** The methods that a path takes; none where there is nothing. */
export function allowedMethods(url: string, { mcp }: { readonly mcp: boolean }): readonly string[] {
  const [path = ""] = url.split("?");
  const { mcp: mcpPath, ...own } = ownPaths;
  const known = [
    ...routes,
    ...Object.values(own).map((each) => ({ method: "GET", path: each })),
    ...(mcp ? ["GET", "POST", "DELETE"].map((method) => ({ method, path: mcpPath })) : []),
  ];
  const fitting = known.filter((each) => isAt(path, each.path)).map(({ method }) => method);
  return fitting.includes("GET") ? [...fitting, "HEAD"] : fitting;
}

function isAt(path: string, pattern: string): boolean {
  const [steps, wanted] = [path.split("/"), pattern.split("/")];
  return (
    steps.length === wanted.length &&
    wanted.every((each, index) => each.startsWith("{") || each === steps[index])
  );
}
