import { layerMemoryWith, mediaThatTrusts } from "./Assembly.ts"
import { circuitSuite, limitSuite } from "./UpstreamsContract.ts"

const services = layerMemoryWith({}, mediaThatTrusts)

circuitSuite("memory", services)
limitSuite("memory", services)
