/** Ids of the ledger. */
import { TypeId } from "@kinora/persistence"

/** Codec and constructors of lot ids, `lot_…`. */
export const LotId = TypeId.define("lot", "LotId")
/** The id of a lot. */
export type LotId = TypeId.Id<"LotId">

/** Codec and constructors of transaction ids, `txn_…`. */
export const TransactionId = TypeId.define("txn", "TransactionId")
/** The id of a transaction. */
export type TransactionId = TypeId.Id<"TransactionId">
