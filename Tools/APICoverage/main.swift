import Terminal

APICoverage.runToExit()
