/** Refusals of the ledger. A refused command changes nothing. */
import * as Rejection from "@kinora/persistence/Rejection"
import { LedgerErrorReason } from "./internal/reasons.ts"

export { LedgerErrorReason }

/** The ledger refused a command. Nothing was changed. */
export class LedgerError extends Rejection.define<LedgerError>("@kinora/ledger/LedgerError")(
  "LedgerError",
  "The ledger",
  LedgerErrorReason
) {}
