// Lists of processes as Linux, macOS and Windows give them: recorded, since those machines are not here.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  namesFolder,
  readLinuxMemory,
  readLinuxStatus,
  readPs,
  readWindowsProcesses,
  treeOf,
} from "../../../node/system/process_list.mjs";

test("LinuxStatus_NameWithBrackets_IsReadFromTheLastOne", () => {
  const status = readLinuxStatus("4711 (a) R 1 (b) S 17 4711 4700 0 -1 4194560 1 2");
  assert.deepEqual(status, { pid: 4711, state: "S", parent: 17, group: 4700 });
  assert.equal(readLinuxStatus("gone"), null);
});

test("LinuxMemory_IsTheProportionalSize", () => {
  assert.equal(readLinuxMemory("Rss:  2000 kB\nPss:    1234 kB\nPss_Dirty: 9 kB\n"), 1234 * 1024);
  assert.equal(readLinuxMemory(""), 0);
});

const chromeOfMac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome --type=renderer";
const ps = `    1     0     1   9876 /sbin/launchd
  501     1   501  51200 node bin.mjs compare
  502   501   502 204800 ${chromeOfMac}
  503   502   502 102400 helper (a b) --x=1
  900     1   900   4096 -zsh
`;

test("Ps_OfMacOs_HasTreesOfGroupsAndChildren", () => {
  const all = readPs(ps);
  assert.equal(all.length, 5);
  assert.equal(all[2].command, chromeOfMac);
  assert.equal(all[2].memory, 204800 * 1024);
  const tree = treeOf(all, 502).map((one) => one.pid);
  assert.deepEqual(tree, [502, 503]);
  assert.deepEqual(treeOf(all, 77), []);
});

test("WindowsProcesses_OneOrMany_HaveTreesOfChildren", () => {
  const many = JSON.stringify([
    {
      ProcessId: 10,
      ParentProcessId: 4,
      WorkingSetSize: 4096,
      Name: "chrome.exe",
      CommandLine: '"C:\\chrome.exe" --x',
    },
    { ProcessId: 11, ParentProcessId: 10, WorkingSetSize: 8192, Name: "chrome.exe", CommandLine: null },
    { ProcessId: 12, ParentProcessId: 11, WorkingSetSize: 1, Name: "gpu", CommandLine: "gpu" },
    { ProcessId: 13, ParentProcessId: 4, WorkingSetSize: 1, Name: "other", CommandLine: "other" },
  ]);
  const all = readWindowsProcesses(many);
  assert.deepEqual(
    treeOf(all, 10).map((one) => one.pid),
    [10, 11, 12],
  );
  assert.equal(all[1].command, "chrome.exe");
  assert.equal(readWindowsProcesses('{"ProcessId":1,"ParentProcessId":0,"Name":"one"}\r\n')[0].pid, 1);
  assert.deepEqual(readWindowsProcesses(""), []);
});

test("Tree_Marker_FindsWhatHasLeftTheGroup", () => {
  const alone = { carries: () => false };
  const all = [
    { pid: 10, parent: 1, group: 10, ...alone },
    { pid: 20, parent: 1, group: 20, carries: (marker) => marker === "M=1" },
    { pid: 21, parent: 20, group: 20, ...alone },
  ];
  assert.deepEqual(
    treeOf(all, 10, "M=1").map((one) => one.pid),
    [10, 20, 21],
  );
  assert.deepEqual(
    treeOf(all, 10).map((one) => one.pid),
    [10],
  );
});

test("NamesFolder_TheFolderOrWhatIsInIt_AndNoLongerName", () => {
  const wanted = (text) => namesFolder(text, "--user-data-dir=", "/tmp/a");
  assert.ok(wanted("chrome --user-data-dir=/tmp/a --x"));
  assert.ok(wanted("chrome --user-data-dir=/tmp/a/profile"));
  assert.ok(!wanted("chrome --user-data-dir=/tmp/ab"));
  assert.ok(!wanted("chrome --other--user-data-dir=/tmp/a"));
});
