// LogEngine
