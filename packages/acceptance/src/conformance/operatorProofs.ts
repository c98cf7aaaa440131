/** The tests that prove the statements of `docs/reference/operator-api.md` about operators themselves. */
import { type Proof, test } from "./Proof.ts"

const admin = test("http-server/test/Admin.test.ts")
const operators = test("http-server/test/Operators.test.ts")
const operatorSessions = test("http-server/test/OperatorSessions.test.ts")
const audit = test("operators/test/AuditContract.ts")
const tokens = test("operators/test/OperatorsContract.ts")

/** Returns the sections from the configuration to the audit log. `operations`: the proofs of rows of operations. */
export const operatorSections = (operations: Readonly<Record<string, ReadonlyArray<Proof>>>) => ({
  "configuration-and-storage": {
    ...operations,
    "- The configuration has": admin("shows the settings and the disk of the server"),
    "- The storage has": admin("shows the settings and the disk of the server")
  },
  "sessions-of-operators": {
    ...operations,
    "- The list has": operatorSessions("lists and ends the sessions of operators, with an entry for each end"),
    "- A session that is ended": operatorSessions(
      "lists and ends the sessions of operators, with an entry for each end"
    ),
    "- Operators list": test("http-server/test/Sessions.test.ts")(
      "lists and ends sessions: one, all others, and none of other accounts"
    )
  },
  "operators": {
    ...operations,
    "- An operator is created": [
      ...operators("rejects invalid operators, and more than the maximum"),
      ...tokens("creates operators and authenticates their tokens on every host")
    ],
    "- A rotation returns": tokens("accepts the former token until the overlap ends"),
    "- `DELETE` revokes": tokens("revokes all tokens of an operator on every host at once"),
    "- An operator has": tokens("lists operators that are not revoked", "records a use at most once a minute")
  },
  "audit-log": {
    ...operations,
    "- Each change through": operators(
      "appends an entry for every change",
      "leaves no entry for a refused change, and undoes a change whose entry cannot be appended"
    ),
    "- An entry has": audit("returns entries as they were appended", "deletes entries older than the retention"),
    "- Entries are listed": [
      ...audit("lists by actor, action, subject and time"),
      ...operators("lists entries by operator, subject and time")
    ]
  }
})
