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
    ["C:/repo/../repo/a", "C:/repo", true],
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
    ["", "/repo", 'needs a path (text without backslashes that is not a URL), got ""'],
    ["/repo/a", "", 'needs a path (text without backslashes that is not a URL), got ""'],
    ["/repo/a\\..\\..\\etc", "/repo", 'got "/repo/a\\\\..\\\\..\\\\etc"'],
    ["/repo/a\0.txt", "/repo", 'got "/repo/a\\u0000.txt"'],
    ["~/x", ".", "cannot compare a path that starts with `~`"],
    ["~root/x", "~root", "cannot compare a path that starts with `~`"],
    ["C:/Windows", ".", "cannot compare an absolute path and a relative base"],
    ["C:x", "D:", "cannot compare an absolute path and an absolute base"],
    ["C:x", "C:/", "cannot compare an absolute path and an absolute base"],
    ["C:/../repo/a", "C:/repo", 'got "C:/../repo/a"'],
    ["~/../repo/x", "repo", "cannot compare a path that starts with `~`"],
    ["~root/../repo/x", "repo", "cannot compare a path that starts with `~`"],
    ["file:///etc/passwd", ".", 'got "file:///etc/passwd"'],
    ["file:etc/passwd", ".", 'got "file:etc/passwd"'],
    ["file:///repo/a", "file:///repo", 'got "file:///repo/a"'],
    ["file://repo/etc/passwd", "file:///repo", 'got "file://repo/etc/passwd"'],
    ["/repo/a", "https://api.example/public", 'got "https://api.example/public"'],
    [" file:///etc/passwd", ".", 'got " file:///etc/passwd"'],
    ["fi\tle:///etc/passwd", ".", 'got "fi\\tle:///etc/passwd"'],
    [" /etc/passwd", ".", 'got " /etc/passwd"'],
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
    ["~/../repo/x", "~/../repo/x"],
    ["~root/a/../../repo/x", "~root/../repo/x"],
    ["./~/a", "./~/a"],
    ["./~/../a", "a"],
    ["a/../C:/b", "./C:/b"],
    ["./file:///b", "./file:/b"],
    ["./ /b", "./ /b"],
  ])("of %j is %j", (path, expected) => {
    expect(answer("normalize_path(path)", { path })).toBe(expected);
    expect(answer("normalize_path(path)", { path: expected })).toBe(expected);
  });

  it.each(["https://evil/../api/x", "file:///repo/a", "C:/../a", "C:/a/../../b", "a\\b"])(
    "of %j is errored",
    (path) => {
      expect(whyErrored("normalize_path(path)", { path })).toContain("`normalize_path` needs a path");
    },
  );

  it("cannot hide from `path_within` that a path starts with `~`", () => {
    const inside = "path_within(normalize_path(path), 'repo')";
    expect(whyErrored(inside, { path: "~/../repo/x" })).toContain("starts with `~`");
  });
});
