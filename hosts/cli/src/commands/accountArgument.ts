/** The account of a command. */
import { Effect } from "effect"
import { Argument } from "effect/cli"
import * as Connection from "../Connection.ts"
import type { Operator } from "../Operator.ts"

/** The argument that names an account. */
export const account = Argument.String("account").pipe(
  Argument.withDescription("Id of the account, acct_…, or its e-mail address")
)

/** Returns the id of the account with this id or e-mail address. */
export const idOf = Effect.fnUntraced(function*(operator: Operator, text: string) {
  if (!text.includes("@")) return text
  let cursor: string | undefined
  do {
    const page: Page = yield* operator.accounts.listAccounts({
      query: { search: text, limit: 100, ...(cursor === undefined ? {} : { cursor }) }
    })
    const found = page.data.find(({ email }) => email.toLowerCase() === text.toLowerCase())
    if (found !== undefined) return found.id
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return yield* Connection.fail(`No account has the e-mail address ${text}.`)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Page = Effect.Success<ReturnType<Operator["accounts"]["listAccounts"]>>
