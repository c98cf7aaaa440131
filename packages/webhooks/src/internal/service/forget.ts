/** The method of `Webhooks` that forgets accounts. */
import * as Deletion from "@kinora/persistence/Deletion"
import { Effect } from "effect"
import type { Dependencies } from "./Dependencies.ts"

/** A command to forget an account. */
export interface ForgetCommand {
  readonly account: string
  /** The maximum number of deliveries, lines of logs and endpoints in one unit of work, 1 to 10,000. Default 1,000. */
  readonly limit?: number | undefined
}

/** The method of `Webhooks` that forgets accounts. */
export const methods = ({ store, unitOfWork }: Dependencies) => ({
  forget: Effect.fn("Webhooks.forget")(({ account, limit }: ForgetCommand) =>
    Deletion.inSets({
      name: "Webhooks.forget",
      limit,
      run: (limit) => unitOfWork.atomically(store.forget(account, limit))
    })
  )
})
