import DarkroomHTTPCaching
import StructuredFieldValues
import Testing

struct ProxyStatusTests {
    @Test(arguments: [
        (ProxyStatus(proxy: "darkroom", .connectionTimeout), "darkroom;error=connection_timeout"),
        (ProxyStatus(proxy: "darkroom", nil, receivedStatus: 404), "darkroom;received-status=404"),
        (
            ProxyStatus(proxy: "darkroom", .destinationUnavailable, receivedStatus: 503),
            "darkroom;error=destination_unavailable;received-status=503"
        ),
    ])
    func `A status is one line`(status: ProxyStatus, text: String) {
        #expect(status.description == text)
    }

    @Test(arguments: ProxyStatus.Failure.allCases)
    func `The line is a structured field with the parameters of RFC 9209`(failure: ProxyStatus.Failure) throws {
        struct Member: Codable {
            struct Parameters: Codable {
                var error: String
                var receivedStatus: Int

                enum CodingKeys: String, CodingKey {
                    case error
                    case receivedStatus = "received-status"
                }
            }
            var item: String
            var parameters: Parameters
        }
        struct Field: StructuredFieldValue {
            static let structuredFieldType = StructuredFieldType.list
            var items: [Member]
        }
        let text = ProxyStatus(proxy: "darkroom", failure, receivedStatus: 502).description
        let member = try #require(StructuredFieldValueDecoder().decode(Field.self, from: Array(text.utf8)).items.first)
        #expect(member.item == "darkroom")
        #expect(member.parameters.error == failure.rawValue)
        #expect(member.parameters.receivedStatus == 502)
    }
}

struct RequestPriorityTests {
    @Test(arguments: [
        ("", 3, false), ("u=0", 0, false), ("u=7, i", 7, true), ("i, u=5;x=1", 5, true), ("i=?0, u=1", 1, false),
        ("u=1, u=2", 2, false), ("other=\"x\", u=2", 2, false), ("u=8", 3, false), ("u=-1, i", 3, true),
        ("u=1.0", 3, false), ("u=\"1\", i", 3, true), ("u=1, i=1", 1, false), ("u=1,", 3, false), ("U=1", 3, false),
        ("u = 1", 3, false), ("urgent", 3, false), ("u=1, &", 3, false), ("u=99999999999999999999", 3, false),
        (String(repeating: "a, ", count: 100) + "u=1", 3, false),
    ])
    func `What cannot be read counts as not said`(text: String, urgency: Int, isIncremental: Bool) {
        #expect(RequestPriority(parsing: text) == RequestPriority(urgency: urgency, isIncremental: isIncremental))
    }
}
