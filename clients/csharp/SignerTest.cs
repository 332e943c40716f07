using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using Darkroom;

/// <summary>Checks the signer against the vectors in the file that the first argument names.</summary>
static class SignerTest
{
    const string Source = "https://example.com/photo.jpg";
    static int passed;
    static int failed;

    [DataContract]
    class Row
    {
        [DataMember(Name = "name")] public string Name = "";
        [DataMember(Name = "key")] public string Key = "";
        [DataMember(Name = "path")] public string Path = "";
        [DataMember(Name = "parameters")] public Dictionary<string, string> Parameters = null;
        [DataMember(Name = "url")] public string Url = "";
        [DataMember(Name = "signed_path")] public string SignedPath = null;
    }

    [DataContract]
    class Vectors
    {
        [DataMember(Name = "keys")] public Dictionary<string, string> Keys = null;
        [DataMember(Name = "valid")] public Row[] Valid = null;
        [DataMember(Name = "signed")] public Row[] Signed = null;
    }

    static int Main(string[] arguments)
    {
        var settings = new DataContractJsonSerializerSettings { UseSimpleDictionaryFormat = true };
        Vectors vectors;
        using (var file = File.OpenRead(arguments[0]))
            vectors = (Vectors)new DataContractJsonSerializer(typeof(Vectors), settings).ReadObject(file);
        foreach (var row in vectors.Valid.Concat(vectors.Signed)) CheckVector(row, vectors.Keys[row.Key]);
        var secret = vectors.Keys["k1"];
        var signer = new Signer("k1", secret);
        CheckRequests(signer, secret);
        CheckRefusals(signer, secret);
        Console.WriteLine($"{passed} passed, {failed} failed");
        return failed > 0 || passed < 40 ? 1 : 0;
    }

    static void CheckVector(Row row, string secret)
    {
        var signer = new Signer(row.Key, secret);
        var parameters = row.Parameters.ToDictionary(pair => pair.Key, pair => (object)pair.Value);
        Check($"signs {row.Name}", signer.Url(parameters, path: row.Path), row.Url);
        if (row.SignedPath != null) Check($"signs {row.Name} in the path", signer.SignedPath(parameters), row.SignedPath);
        if (!row.Parameters.TryGetValue("exp", out var seconds)) return;
        parameters.Remove("exp");
        var expires = DateTimeOffset.FromUnixTimeSeconds(long.Parse(seconds)).AddMilliseconds(999);
        Check($"signs {row.Name} by time", signer.Url(parameters, expires, row.Path), row.Url);
    }

    static void CheckRequests(Signer signer, string secret)
    {
        Check(
            "values may be numbers, booleans and lists, and are left out if there is none",
            Signer.Query(new Dictionary<string, object>
            {
                ["url"] = Source, ["w"] = 400, ["fpx"] = 0.25, ["flip"] = true, ["radius"] = new[] { 8, 0 }, ["h"] = null,
            }),
            Signer.Query(new Dictionary<string, object>
            {
                ["url"] = Source, ["w"] = "400", ["fpx"] = "0.25", ["flip"] = "true", ["radius"] = "8,0",
            }));
        var parameters = new Dictionary<string, object> { ["url"] = Source, ["w"] = 320 };
        Check(
            "the base precedes the path and is not signed",
            new Signer("k1", secret, "https://img.example.com/base/").Url(parameters),
            "https://img.example.com/base" + signer.Url(parameters));
        var expires = DateTimeOffset.FromUnixTimeSeconds(4102444800);
        var small = signer.Url(parameters, expires);
        var large = signer.Url(new Dictionary<string, object> { ["url"] = Source, ["w"] = 640 }, expires);
        Check(
            "a set of widths has a signed URL for each width",
            signer.Srcset(parameters, new[] { 320, 640 }, expires), $"{small} 320w, {large} 640w");
    }

    static void CheckRefusals(Signer signer, string secret)
    {
        foreach (var keyId in new[] { "", "a.b", "k1\n", new string('a', 33) })
            CheckRefused($"key ID '{keyId}'", () => new Signer(keyId, secret));
        foreach (var weak in new[] { "short", new string(' ', 32), new string(',', 32) })
            CheckRefused($"secret '{weak}'", () => new Signer("k1", weak));
        var signed = new Dictionary<string, object> { ["url"] = Source, ["s"] = "k1.x" };
        CheckRefused("a signature among the parameters", () => signer.Url(signed));
        var parameters = new Dictionary<string, object> { ["url"] = Source };
        CheckRefused("an expiry in 1970", () => signer.Url(parameters, DateTimeOffset.FromUnixTimeSeconds(0)));
    }

    static void Check(string name, string found, string expected)
    {
        if (found == expected)
        {
            passed += 1;
            return;
        }
        failed += 1;
        Console.WriteLine($"FAILED: {name}\n  found    {found}\n  expected {expected}");
    }

    static void CheckRefused(string name, Func<object> call)
    {
        try
        {
            call();
            Check(name, "accepted", "ArgumentException");
        }
        catch (ArgumentException)
        {
            passed += 1;
        }
    }
}
