/** The tests that prove the statements of `docs/reference/operator-api.md` on sign-in links. */
import { type Proof, test } from "./Proof.ts"

const signInLinks = test("http-server/test/OperatorSessions.test.ts")

/** By the beginning of the statement. */
export const signInProofs: Readonly<Record<string, ReadonlyArray<Proof>>> = {
  "- A link is returned once": [
    ...signInLinks("creates sign-in links of accounts and operators, and records them without the code"),
    ...test("sessions/test/SqlSessionStore.integration.test.ts")("stores nothing of a token or a code")
  ],
  "- A link of an account": [
    ...signInLinks(
      "creates sign-in links of accounts and operators, and records them without the code",
      "serves the console on a listener for operators alone",
      "rejects sign-in links that cannot work"
    )
  ],
  "- A link of an operator": signInLinks(
    "creates sign-in links of accounts and operators, and records them without the code",
    "serves the console on a listener for operators alone",
    "rejects sign-in links that cannot work"
  ),
  "- An account has at most": signInLinks("rejects sign-in links that cannot work")
}
