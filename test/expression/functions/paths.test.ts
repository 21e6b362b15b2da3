import { describe, expect, it } from "vitest";
import { answer, whyErrored } from "../answers.js";

describe("path_within", () => {
  it.each([
    ["/repo/a.txt", "/repo", true],
    ["/repo/a.txt", "/repo/", true],
    ["/repo/a.txt", "/repo//x/..", true],
    ["/repo", "/repo", true],
    ["/repo/", "/repo", true],
    ["/repo/./a//b/", "/repo", true],
    ["//repo/a", "/repo", true],
    ["/repo/a/../b", "/repo", true],
    ["/repo/..a", "/repo", true],
    ["/repo/../repo/a", "/repo", true],
    ["/repo/../etc/passwd", "/repo", false],
    ["/repo/a/../../etc", "/repo", false],
    ["/repo/..", "/repo", false],
    ["/repository/a", "/repo", false],
    ["/Repo/a", "/repo", false],
    ["/", "/repo", false],
    ["/%72epo/a", "/repo", false],
    ["/repo/%2e%2e/etc", "/repo", true],
    ["/etc/passwd", "/", true],
    ["/..", "/", true],
    ["repo/a", "repo", true],
    ["./repo/a", "repo", true],
    ["a", ".", true],
    ["..", ".", false],
    ["../x", ".", false],
    ["../x", "repo", false],
    ["repo/../../x", "repo", false],
    ["../x", "..", true],
    ["../../x", "..", false],
    ["a", "../repo", false],
    ["C:/repo/a", "C:/repo", true],
    ["c:/repo/a", "C:/repo", false],
    ["file:/repo/a", "file:///repo", true],
    ["./~/a", ".", true],
    ["a~/b", ".", true],
    ["note: a.txt", ".", true],
  ])("of %j and %j is %j", (path, base, expected) => {
    expect(answer("path_within(path, base)", { path, base })).toBe(expected);
  });

  it.each([
    ["src/a", "/repo", "cannot compare a relative path and an absolute base"],
    ["../repo/a", "/repo", "cannot compare a relative path and an absolute base"],
    ["/repo/a", "repo", "cannot compare an absolute path and a relative base"],
    ["", "/repo", 'needs a path (text that is not empty, without backslashes), got ""'],
    ["/repo/a", "", 'needs a path (text that is not empty, without backslashes), got ""'],
    ["/repo/a\\..\\..\\etc", "/repo", 'got "/repo/a\\\\..\\\\..\\\\etc"'],
    ["/repo/a\0.txt", "/repo", 'got "/repo/a\\u0000.txt"'],
    ["~/x", ".", "cannot compare a path that starts with `~`"],
    ["~root/x", "~root", "cannot compare a path that starts with `~`"],
    ["C:/Windows", ".", "cannot compare an absolute path and a relative base"],
    ["C:x", "D:", "cannot compare an absolute path and an absolute base"],
    ["file:///etc/passwd", ".", "cannot compare an absolute path and a relative base"],
    ["/repo/a", "C:\\repo", 'got "C:\\\\repo"'],
  ])("of %j and %j is errored, so a negated condition does not hold either", (path, base, reason) => {
    expect(whyErrored("path_within(path, base)", { path, base })).toContain(reason);
    expect(whyErrored("not path_within(path, base)", { path, base })).toContain(reason);
  });
});

describe("normalize_path", () => {
  it.each([
    ["/repo//a/./../b/", "/repo/b"],
    ["./a/../../b", "../b"],
    ["/", "/"],
    ["a/..", "."],
    ["~/a/../b", "~/b"],
    ["./~/a", "./~/a"],
  ])("of %j is %j", (path, expected) => {
    expect(answer("normalize_path(path)", { path })).toBe(expected);
  });
});
