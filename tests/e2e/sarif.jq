# SPDX-License-Identifier: BSD-2-Clause
#
# jq -e -f sarif.jq FILE: true when FILE keeps what the schema of SARIF 2.1.0 and its text demand of what is used here; names
# on stderr what does not.
def must(what; condition): if condition then true else ("sarif: " + what | debug | false) end;
def text: type == "object" and (.text | type == "string" and length > 0);
def time: . == null or test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$");
def uri: type == "string" and test("^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$|^file:///([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$");
def only($names): (keys - $names) == [];

.runs[0] as $run | $run.tool.driver as $driver | $driver.rules as $rules |
[
  must("$schema, version, runs"; only(["$schema", "version", "runs"]) and .version == "2.1.0" and (.runs | length) == 1),
  must("members of the run"; $run | only(["tool", "invocations", "artifacts", "results", "properties"])),
  must("the driver"; $driver.name == "warpcheck" and ($driver.semanticVersion | test("^[0-9]+\\.[0-9]+\\.[0-9]+"))),
  must("unique rules"; ($rules | map(.id) | length) == ($rules | map(.id) | unique | length)),
  must("rules"; all($rules[];
    (.id | length > 0) and (.shortDescription | text) and (.fullDescription | text) and
    (.defaultConfiguration.level | IN("error", "warning", "note")) and
    (.properties | has("source") and has("section") and has("level")))),
  must("one invocation"; ($run.invocations | length) == 1 and all($run.invocations[];
    (.executionSuccessful | type == "boolean") and (.exitCode | type == "number") and
    (.startTimeUtc | time) and (.endTimeUtc | time) and all(.toolExecutionNotifications[]; .message | text))),
  must("artifacts"; all($run.artifacts[]; (.location.uri | uri) and (.roles | length > 0))),
  must("results lead to their rules"; all($run.results[]; .ruleId == $rules[.ruleIndex].id)),
  must("a level, and a kind other than fail with none only (3.27.10)"; all($run.results[];
    if .kind then .kind == "open" and .level == "none" else .level | IN("error", "warning", "note") end)),
  must("messages that are neither placeholders nor links"; all($run.results[];
    (.message | text) and (.message.text | gsub("\\{\\{|\\}\\}"; "") | test("[{}]|\\]\\(") | not))),
  must("locations lead to their artifacts"; all($run.results[] | .locations[], (.codeFlows // [])[].threadFlows[].locations[].location;
    if .physicalLocation then
      .physicalLocation.artifactLocation as $at | ($at.uri | uri) and $run.artifacts[$at.index].location.uri == $at.uri
    else true end)),
  must("each result has a location"; all($run.results[]; (.locations | length) == 1 and .occurrenceCount >= 1)),
  must("regions of octets"; all($run.results[].locations[].physicalLocation | select(. != null) | .region | select(. != null);
    .byteOffset >= 24 and .byteLength > 0)),
  must("fingerprints"; all($run.results[]; .partialFingerprints["warpcheckFinding/v1"] | test("^[0-9a-f]{16}$"))),
  must("suppressions say why"; all($run.results[] | (.suppressions // [])[]; .kind == "external" and (.justification | length > 0)))
] | all
