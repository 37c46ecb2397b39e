import HubServer

// A file that imports Fetcher as well would see two types of each name.
typealias ServedRequest = HTTPRequest
typealias ServedResponse = HTTPResponse
