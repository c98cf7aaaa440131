import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"
import * as MemoryAccountStore from "../src/MemoryAccountStore.ts"
import * as AccountsContract from "./AccountsContract.ts"
import * as AuthenticationContract from "./AuthenticationContract.ts"
import * as KeyBudgetContract from "./KeyBudgetContract.ts"
import * as KeyTermsContract from "./KeyTermsContract.ts"
import * as WalletContract from "./WalletContract.ts"

const memory = MemoryAccountStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

AccountsContract.suite("memory", memory)
AuthenticationContract.suite("memory", memory)
KeyBudgetContract.suite("memory", memory)
KeyTermsContract.suite("memory", memory)
WalletContract.suite("memory", memory)
