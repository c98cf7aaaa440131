/** Files of this directory by name. */
import { account, usage } from "./account.ts"
import { authentication } from "./authentication.ts"
import { budgets } from "./budgets.ts"
import { codes } from "./codes.ts"
import { content } from "./content.ts"
import { create } from "./create.ts"
import { defaults } from "./defaults.ts"
import { deliveries } from "./deliveries.ts"
import { embedding } from "./embedding.ts"
import { endpoints } from "./endpoints.ts"
import { errors } from "./errors.ts"
import { events } from "./events.ts"
import { get } from "./get.ts"
import { images } from "./images.ts"
import { inputs } from "./inputs.ts"
import { job } from "./job.ts"
import { ledger } from "./ledger.ts"
import { limits } from "./limits.ts"
import { listing } from "./listing.ts"
import { models } from "./models.ts"
import { order } from "./order.ts"
import { plans } from "./plans.ts"
import { renewal } from "./renewal.ts"
import { service } from "./service.ts"
import { signatures } from "./signatures.ts"
import { states } from "./states.ts"
import type { Section } from "./Suite.ts"

/** Cases of every file. */
export const sections: Readonly<Record<string, Section>> = {
  service,
  job,
  create,
  order,
  plans,
  budgets,
  inputs,
  get,
  states,
  content,
  images,
  models,
  account: (define) => {
    account(define)
    usage(define)
  },
  ledger,
  renewal,
  listing,
  authentication,
  limits,
  events,
  signatures,
  endpoints,
  deliveries,
  embedding,
  errors,
  codes,
  // Last, so that no picture of another file waits for its videos, which a host draws one after the other.
  defaults
}
