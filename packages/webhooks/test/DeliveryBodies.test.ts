import { suite } from "./DeliveryBodiesContract.ts"
import { memory } from "./SendingWorld.ts"

suite("memory", memory)
