package import HubServer

// Fetcher has types of the same names, for the other direction.
package typealias ServedRequest = HTTPRequest
package typealias ServedResponse = HTTPResponse
