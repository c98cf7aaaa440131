import * as FailingContract from "./FailingContract.ts"
import { memory } from "./Fixture.ts"
import * as ForgetContract from "./ForgetContract.ts"
import * as HistoryContract from "./HistoryContract.ts"
import * as SecretsContract from "./SecretsContract.ts"
import * as WebhooksContract from "./WebhooksContract.ts"

WebhooksContract.suite("memory", memory)
SecretsContract.suite("memory", memory)
HistoryContract.suite("memory", memory)
FailingContract.suite("memory", memory)
ForgetContract.suite("memory", memory)
