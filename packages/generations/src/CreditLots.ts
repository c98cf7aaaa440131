/** The credit lots of the service: their kinds, their purpose and their label in the ledger. */
import type { LedgerOptions } from "@kinora/ledger/Ledger"
import type { Lot, LotKind } from "@kinora/ledger/Lot"

/** The origin of credits. Only jobs with `trialAllowed` draw on `trial` lots. */
export type Kind = "plan" | "refund" | "addon" | "trial"

/** The purpose of image jobs, and of lots that pay for image jobs only. */
export const imagePurpose = "image"

/** The label of lots whose jobs carry a watermark. */
export const watermarkLabel = "watermark"

/** Options of the ledger of the service. */
export const ledgerOptions = {
  lotKinds: {
    plan: { rank: 0 },
    refund: { rank: 1 },
    addon: { rank: 2 },
    trial: { rank: 3, restricted: true }
  } satisfies Readonly<Record<Kind, LotKind>>,
  refundKind: "refund"
} as const satisfies LedgerOptions

/** Returns the kind of a lot. Throws if the service has no such lots. */
export const kindOf = ({ id, kind }: Pick<Lot, "id" | "kind">): Kind => {
  if (!isKind(kind)) throw new Error(`The lot ${id} is of the unknown kind ${kind}`)
  return kind
}

/** Whether the lot pays for image jobs only. */
export const isForImages = ({ purpose }: Pick<Lot, "purpose">): boolean => purpose === imagePurpose

/** Whether jobs that lots with these labels pay for carry a watermark. */
export const hasWatermark = (labels: ReadonlyArray<string>): boolean => labels.includes(watermarkLabel)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isKind = (kind: string): kind is Kind => Object.hasOwn(ledgerOptions.lotKinds, kind)
