import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** The program codec-oracle, asked through its stdin. The dialogue is described at the top of codec_oracle.c. */
final class OurSide implements Closeable {
    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;

    static final class Answer {
        int status;
        byte[] bytes;
        String text;
    }

    OurSide(String program) throws IOException {
        process = new ProcessBuilder(program).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        to = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
        from = new DataInputStream(process.getInputStream());
    }

    Answer list() throws IOException {
        return ask('L', "", (short) 0, new byte[0]);
    }

    Answer echo(String name, short version, byte[] bytes) throws IOException {
        return ask('E', name, version, bytes);
    }

    Answer make(String name, short version, long seed) throws IOException {
        return ask('M', name, version, java.nio.ByteBuffer.allocate(8).putLong(seed).array());
    }

    Answer ask(char op, String name, short version, byte[] rest) throws IOException {
        ByteArrayOutputStream question = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(question);
        out.writeByte(op);
        out.writeUTF(name);
        out.writeShort(version);
        out.write(rest);
        to.writeInt(question.size());
        question.writeTo(to);
        to.flush();
        Answer answer = new Answer();
        answer.status = from.readInt();
        answer.bytes = from.readNBytes(from.readInt());
        answer.text = new String(from.readNBytes(from.readInt()), "UTF-8");
        return answer;
    }

    @Override
    public void close() throws IOException {
        to.close();
        try {
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException("codec-oracle ended with " + code);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
