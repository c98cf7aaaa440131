import { layerMemoryWith, mediaThatTrusts } from "./Assembly.ts"
import { refusalSuite, statusSuite } from "./StatusContract.ts"

statusSuite("memory", layerMemoryWith({}, mediaThatTrusts))
refusalSuite("memory", layerMemoryWith({}, mediaThatTrusts))
