import { expect } from "vitest";
import type { SoakReport } from "../soak.js";

/** Holds for soaks of any length. */
export function expectSoaked(report: SoakReport): void {
  const { faults, statuses, ended, reloads, memory, records, verified } = report;
  expect(faults.slice(0, 5)).toEqual([]);
  expect(verified).toBe(0);
  const [stopped, killed] = ended;
  expect(stopped).toMatchObject({ code: 0, signal: null });
  expect(stopped?.milliseconds).toBeLessThan(10_000);
  expect(killed).toMatchObject({ signal: "SIGKILL" });
  for (const status of ["200", "400", "404", "405", "413", "415"]) {
    expect(statuses[status], `how often ${status} was answered`).toBeGreaterThan(10);
  }
  expect((statuses["503"] ?? 0) + (statuses["429"] ?? 0)).toBeLessThan((statuses["200"] ?? 0) / 10);
  expect(reloads.current).toBeGreaterThan(1);
  expect(reloads.refused).toBeGreaterThan(0);
  expect(records).toBeGreaterThan(200);
  const [earlier, later] = memory;
  expect(later).toBeLessThan(earlier * 1.3 + 30);
}
