import assert from "node:assert/strict";
import { test } from "node:test";
import { legal } from "./legal";

test("what no XML file can hold is replaced, all else stays", () => {
  assert.equal(legal("a\0b\x07c\x1b\uffffd\ufffe"), "a\ufffdb\ufffdc\ufffd\ufffdd\ufffd");
  assert.equal(legal("half \ud800 and \udc00"), "half \ufffd and \ufffd");
  const kept = "tab\tline\n\r <&> 😀 \u2028 \u202e עברית";
  assert.equal(legal(kept), kept);
});
